//! Each fault before and now.

use serde_json::Value;

use crate::decision::DecisionContext;
use crate::event::{Now, Rechecked};
use crate::finding::Fault;
use crate::model::Call;
use crate::recheck::next::call_context;
use crate::recheck::plan::Again;
use crate::state::{CallState, State};
use crate::suspect::{Layer, SupportedFaults, Suspect};
use ghost_base::Timestamp;

/// What checking again came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every fault is gone, and nothing came in its place.
    Fixed,
    /// Something is still there, or came.
    Broken,
    /// Nothing is known to be there, but not everything could be looked at.
    Unclear,
}

/// Sums up.
#[must_use]
pub fn verdict(rows: &[Rechecked]) -> Verdict {
    match rows.iter().map(|row| row.now).max() {
        Some(Now::Broken | Now::New) => Verdict::Broken,
        Some(Now::Fixed) => Verdict::Fixed,
        Some(Now::Unknown) | None => Verdict::Unclear,
    }
}

/// Compares what calls bore out with what they support now. `again` are the calls of the plan as they ran now, in its order.
pub(super) fn compare(
    state: &State,
    plan: &[Again<'_>],
    again: &[&Call],
    context: &DecisionContext<'_>,
    now: Timestamp,
) -> Vec<Rechecked> {
    let mut rows: Vec<Rechecked> = Vec::new();
    for (number, before) in plan.iter().enumerate() {
        let after = again.get(number).and_then(|call| state.call_named(&call.id));
        let repeated = RepeatedCall::of(state, after, before, context, now);
        for found in &before.findings {
            let (code, object) = (&found.finding.code, &found.finding.object);
            let same = |suspect: &&Suspect| suspect.code == *code && suspect.object == *object;
            let was = before.supported.suspects.iter().find(same);
            let (now, after) = repeated.judge(code, repeated.supported.suspects.iter().find(same));
            rows.push(Rechecked {
                code: code.clone(),
                object: object.clone(),
                before: was.map_or_else(|| found.finding.statement.clone(), |was| was.why.clone()),
                after,
                now,
                seen: after_ids(repeated.call),
            });
        }
        let known = |suspect: &Suspect| {
            suspect.fault() == Some(Fault::NoDrift)
                || before.supported.suspects.iter().any(|other| other.is(suspect))
                || state
                    .accepted
                    .iter()
                    .any(|found| found.finding.code == suspect.code && found.finding.object == suspect.object)
        };
        let came = repeated.supported.suspects.iter().filter(|suspect| !known(suspect));
        let came: Vec<Rechecked> = came
            .map(|suspect| Rechecked {
                code: suspect.code.clone(),
                object: suspect.object.clone(),
                before: String::new(),
                after: suspect.why.clone(),
                now: Now::New,
                seen: after_ids(repeated.call),
            })
            .collect();
        for row in came {
            if !rows.iter().any(|other| other.code == row.code && other.object == row.object) {
                rows.push(row);
            }
        }
    }
    rows
}

fn after_ids(call: Option<&CallState>) -> Vec<crate::event::ObservationId> {
    call.map(|call| call.observations.clone()).unwrap_or_default()
}

/// A look as it was taken now.
struct RepeatedCall<'a> {
    call: Option<&'a CallState>,
    supported: SupportedFaults,
    /// Why it says nothing about what it does not show.
    trouble: Option<String>,
}

impl<'a> RepeatedCall<'a> {
    fn of(
        state: &'a State,
        call: Option<&'a CallState>,
        before: &Again<'_>,
        context: &DecisionContext<'_>,
        now: Timestamp,
    ) -> Self {
        let Some(call) = call else {
            let trouble = Some("it was stopped before it was looked at".to_owned());
            return Self { call: None, supported: SupportedFaults::default(), trouble };
        };
        let supported = call_context(state, call, context, now).supported(call);
        let trouble = trouble(call, before, &supported, state);
        Self { call: Some(call), supported, trouble }
    }

    fn judge(&self, code: &str, still: Option<&Suspect>) -> (Now, String) {
        match (still, &self.trouble) {
            (Some(still), _) => (Now::Broken, still.why.clone()),
            (None, Some(trouble)) => (Now::Unknown, trouble.clone()),
            // Silence on the wire says nothing where nobody spoke.
            (None, None) if is_of_the_wire(code) => {
                let why =
                    "the new recording does not show it; whether anybody called meanwhile, it does not say";
                (Now::Unknown, why.to_owned())
            }
            (None, None) => {
                (Now::Fixed, "the same check was repeated to its end and no longer shows it".to_owned())
            }
        }
    }
}

fn is_of_the_wire(code: &str) -> bool {
    code.parse::<Fault>().is_ok_and(|fault| fault.layer() == Layer::Wire)
}

fn trouble(
    call: &CallState,
    before: &Again<'_>,
    supported: &SupportedFaults,
    state: &State,
) -> Option<String> {
    let Some(returned) = &call.returned else { return Some("it was not looked at to the end".to_owned()) };
    let content: Value = serde_json::from_str(&returned.content).unwrap_or_default();
    let status = content.get("status").and_then(Value::as_str).unwrap_or_default();
    if returned.is_error || !matches!(status, "completed" | "ok") {
        let denied = call.steps.iter().filter_map(|id| state.step(*id)).any(|step| step.is_denied());
        if denied || status == "denied" {
            return Some("nobody consented to looking again".to_owned());
        }
        let reason = content.get("reason").and_then(Value::as_str).unwrap_or("no usable answer came back");
        let line: String =
            reason.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
        return Some(format!("it could not be looked at: {line}"));
    }
    let failed = call.steps.iter().filter_map(|id| state.step(*id)).any(|step| !step.is_completed());
    let whole = before.supported.looked.iter().all(|looked| supported.looked.contains(looked));
    (failed || !whole).then(|| "it could not be looked at whole".to_owned())
}
