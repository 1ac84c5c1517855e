//! `complete_investigation`: the model says that it is over, and the gates say whether it is.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::event::{
    Citation, Concluded, Event, Finding, FindingAccepted, FindingRejected, ObservationId, Refusal, Waived,
};
use crate::gate::{self, Claim, CompletionCheck, capped, completion, outcome};
use crate::model::ToolSpec;
use crate::suspect::{Layer, Looked};
use crate::tool::argument::{parse, schema, sized};
use crate::tool::{CallContext, CallResult, Tool, ToolAction};
use crate::{Confidence, HypothesisState};

const NAME: &str = "complete_investigation";
const MAX_ITEMS_PER_LIST: usize = 50;

/// Is open where flows are complained about and nobody judged them.
const UNJUDGED: &str = "Does the flow pass from end to end, and does anything else stop it? It was not judged: check_path settles it.";

/// The same of machines that are read themselves.
const UNREAD: &str = "What do the machines themselves show? They were not read: inspect_hosts reads them.";

/// The same of what is inside of a cluster.
const UNREAD_CLUSTER: &str = "What does the cluster itself show? It was not read: inspect_cluster reads it.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// How sure you are. The report states what the evidence supports, whatever is claimed here.
    confidence: Confidence,
    /// What is broken, by which mechanism, and why that alone explains every symptom; with observation ids.
    root_cause_summary: String,
    /// Hypotheses that stand CONFIRMED on the board.
    #[serde(default)]
    confirmed_hypotheses: Vec<String>,
    /// Hypotheses that stand REFUTED on the board.
    #[serde(default)]
    refuted_hypotheses: Vec<String>,
    /// Hypotheses that stand UNVERIFIABLE on the board.
    #[serde(default)]
    unverifiable_hypotheses: Vec<String>,
    /// Hypotheses that stand CONTRADICTED on the board.
    #[serde(default)]
    contradicted_hypotheses: Vec<String>,
    /// What should be done, specific and in order.
    #[serde(default)]
    recommended_actions: Vec<String>,
    /// Faults, each with a code, an object and its evidence. Code checks each against what was recorded.
    #[serde(default)]
    findings: Vec<ClaimedFault>,
    /// What would settle what is still open.
    #[serde(default)]
    open_questions: Vec<String>,
    /// Layers that belong to the symptom and were not looked at, each with the reason why not. The report prints them.
    #[serde(default)]
    waived: Vec<WaivedLayer>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WaivedLayer {
    /// The layer.
    layer: Layer,
    /// The machine, where it is one that was left out.
    #[serde(default)]
    subject: String,
    /// Why it was not looked at.
    why: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaimedFault {
    /// The fault code, such as `nsg_deny`.
    code: String,
    /// What is at fault, such as `nsg/web-nsg/deny-5001`.
    object: String,
    /// In a sentence.
    #[serde(default)]
    statement: String,
    /// What shows it.
    evidence: Vec<CitedPlace>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CitedPlace {
    /// The observation, such as `o3`.
    observation: String,
    /// Words that stand in it, letter by letter.
    #[serde(default)]
    #[schemars(with = "String")]
    quote: Option<String>,
}

/// See the module.
pub(super) struct CompleteInvestigation;

impl Tool for CompleteInvestigation {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Ends the investigation if every gate is open; otherwise says which are closed. The outcome is computed \
                from the findings that hold. Example: {\"confidence\":\"high\",\"root_cause_summary\":\"the rule deny-5001 of \
                web-nsg drops iperf (o3)\",\"confirmed_hypotheses\":[\"H1\"],\"refuted_hypotheses\":[\"H2\"],\
                \"recommended_actions\":[\"remove the rule deny-5001 from web-nsg, then measure again\"],\"findings\":[{\
                \"code\":\"nsg_deny\",\"object\":\"nsg/web-nsg/deny-5001\",\"statement\":\"denies tcp/5001 inbound\",\
                \"evidence\":[{\"observation\":\"o3\",\"quote\":\"deny-5001\"}]}]}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        ToolAction::Return(conclude(arguments, context).map_or_else(|refused| refused, Box::new))
    }
}

fn conclude(
    arguments: &Map<String, Value>,
    context: &CallContext<'_>,
) -> Result<CallResult, Box<CallResult>> {
    let arguments: Arguments = parse(arguments, NAME)?;
    sized("root_cause_summary", &arguments.root_cause_summary, 20_000)?;
    let lists = [
        arguments.recommended_actions.len(),
        arguments.findings.len(),
        arguments.open_questions.len(),
        arguments.waived.len(),
    ];
    if lists.into_iter().any(|length| length > MAX_ITEMS_PER_LIST) {
        return Err(Box::new(CallResult::refuse(
            Refusal::Malformed,
            format!("a list holds more than {MAX_ITEMS_PER_LIST} items"),
        )));
    }
    let claim = claim(&arguments)?;
    let CompletionCheck { checked, closed, covered, complaints, is_judged, is_whole } =
        completion(&claim, context);
    let mut events: Vec<Event> = Vec::new();
    let mut accepted = context.state.accepted.len();
    for (finding, held) in checked {
        let again = context.state.accepted.iter().any(|known| known.finding == finding);
        match held {
            Ok(_) if again => {}
            Ok(why) => {
                accepted += 1;
                events.push(Event::FindingAccepted(FindingAccepted { finding, why }));
            }
            Err(why) => {
                events.push(Event::FindingRejected(FindingRejected { finding, why: why.to_string() }))
            }
        }
    }
    if !closed.is_empty() {
        // What holds is recorded once the investigation ends: the model may still think better of it.
        events.retain(|event| matches!(event, Event::FindingRejected(_)));
        let content = json!({ "status": "rejected", "reason": closed.join("\n"), "closed_gates": closed });
        return Ok(CallResult { content, is_error: true, refused: Some(Refusal::Gate), events });
    }
    let replaced = gate::replaced(context, &events);
    let mut findings = gate::accepted(&events, context.state);
    findings.retain(|found| !replaced.iter().any(|one| one.is(found)));
    let accepted = accepted.saturating_sub(replaced.len());
    let outcome = outcome(context.state, accepted, covered);
    let outcome = capped(outcome, &findings, &complaints, (is_judged, is_whole));
    if let Some(left) =
        gate::stands(context.state, outcome, &replaced, &complaints, &arguments.recommended_actions)
    {
        let content = json!({ "status": "ok", "outcome": left.outcome, "confidence": left.confidence, "report": "it stands as it was" });
        events.retain(|event| matches!(event, Event::FindingRejected(_)));
        events.push(Event::Concluded(left));
        return Ok(CallResult { events, ..CallResult::completed(content) });
    }
    let mut open_questions = arguments.open_questions;
    let unjudged =
        match (crate::judged::is_of_clusters(context.state), crate::judged::is_of_hosts(context.state)) {
            (true, _) => UNREAD_CLUSTER,
            (false, true) => UNREAD,
            (false, false) => UNJUDGED,
        };
    open_questions.extend((!is_judged).then(|| unjudged.to_owned()));
    events.push(Event::Concluded(Concluded {
        outcome,
        confidence: outcome.confidence(),
        claimed: Some(arguments.confidence),
        summary: arguments.root_cause_summary.trim().to_owned(),
        actions: arguments.recommended_actions,
        open_questions,
        waived: claim.waived,
        by: "model".to_owned(),
        recheck: Vec::new(),
        complaints,
        stands: None,
        replaced,
    }));
    let content = json!({ "status": "ok", "outcome": outcome, "confidence": outcome.confidence() });
    Ok(CallResult { events, ..CallResult::completed(content) })
}

fn claim(arguments: &Arguments) -> Result<Claim, Box<CallResult>> {
    let lists = [
        (&arguments.confirmed_hypotheses, HypothesisState::Confirmed),
        (&arguments.refuted_hypotheses, HypothesisState::Refuted),
        (&arguments.unverifiable_hypotheses, HypothesisState::Unverifiable),
        (&arguments.contradicted_hypotheses, HypothesisState::Contradicted),
    ];
    let hypotheses =
        lists.iter().flat_map(|(ids, state)| ids.iter().map(|id| (id.clone(), *state))).collect();
    let findings = arguments.findings.iter().map(finding).collect::<Result<_, _>>()?;
    let waived = arguments.waived.iter().map(|gap| Waived {
        what: Looked { layer: gap.layer, subject: gap.subject.trim().to_owned() },
        why: gap.why.trim().to_owned(),
    });
    Ok(Claim { hypotheses, findings, waived: waived.collect() })
}

fn finding(fault: &ClaimedFault) -> Result<Finding, Box<CallResult>> {
    let cite = |place: &CitedPlace| {
        let observation: ObservationId = place.observation.parse().map_err(|error| {
            let reason = format!("{:?}: {error}", place.observation);
            Box::new(CallResult::refuse(Refusal::Malformed, reason))
        })?;
        Ok(Citation { observation, quote: place.quote.clone() })
    };
    Ok(Finding {
        code: fault.code.as_str().into(),
        object: fault.object.clone(),
        statement: fault.statement.clone(),
        evidence: fault.evidence.iter().map(cite).collect::<Result<_, Box<CallResult>>>()?,
    })
}
