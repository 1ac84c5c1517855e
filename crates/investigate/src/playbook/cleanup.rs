//! What a session left behind: one capture is deleted, with consent, and nothing is investigated.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::playbook::agenda::{PlaybookContext, hypothesis};
use crate::playbook::conversation::{CallEnding, FinishedCall, plain};
use crate::playbook::planned_call::PlannedCall;
use crate::playbook::turn::Turn;
use crate::suspect::Layer;
use crate::symptom_text::LeftBehind;

const TOOL: &str = "run_shell_cmd";

impl PlaybookContext<'_> {
    /// Returns the deletion, where it is known in which region the machine is: captures belong to a region, not to a group.
    pub(super) fn cleanup_call(&self, left: &LeftBehind) -> Option<PlannedCall> {
        let region = &self.incident.listed.machine(&left.machine)?.region;
        let plain = !region.is_empty() && region.chars().all(|char| char.is_ascii_alphanumeric());
        let Value::Object(arguments) = json!({"command": format!(
            "az network watcher packet-capture delete --location {region} --name {}",
            left.capture
        )}) else {
            return None;
        };
        let why = format!(
            "The packet capture {} of {} has the name of a session that left it behind. While it is there, nobody else can record on that machine. Its file in the account of captures stays.",
            left.capture, left.machine
        );
        plain.then(|| PlannedCall::once(TOOL, Layer::Wire, arguments, why))
    }
}

/// Says what is supposed where something was left behind.
pub(super) fn supposed(left: &LeftBehind) -> String {
    format!(
        "The packet capture {} of {} is still there, and nobody owns it any more.",
        left.capture, left.machine
    )
}

/// Ends the session.
pub(super) fn end(context: &PlaybookContext<'_>, left: &LeftBehind) -> Turn {
    let finished: Option<&FinishedCall> = context.conversation.calls(TOOL).last();
    let seen = finished.map(FinishedCall::observations).unwrap_or_default().join(", ");
    let what = format!("The packet capture {} of {}", left.capture, left.machine);
    let (state, summary) = match finished.map(|finished| (finished.ending, finished)) {
        Some((CallEnding::Completed, _)) => (
            HypothesisState::Confirmed,
            format!("{what} is deleted ({seen}). Its file in the account of captures stays."),
        ),
        Some((CallEnding::Denied, _)) => {
            (HypothesisState::Unverifiable, format!("{what} stays: a human denied that it is deleted."))
        }
        Some((CallEnding::Failed | CallEnding::Refused, finished)) => (
            HypothesisState::Unverifiable,
            format!("{what} could not be deleted: {}.", finished.reason().trim_end_matches('.')),
        ),
        None => (
            HypothesisState::Unverifiable,
            format!("{what} stays: its machine was not found, so that nobody knows its region."),
        ),
    };
    let summary = plain(&summary, 600);
    let id = hypothesis(Layer::Wire).unwrap_or("H-wire");
    let mut calls = Vec::new();
    if !context.conversation.added(id) {
        calls.push((
            "manage_hypotheses".to_owned(),
            json!({"add": [{"id": id, "description": supposed(left)}]}),
        ));
    }
    calls.push((
        "manage_hypotheses".to_owned(),
        json!({"update": [{"id": id, "state": state, "why": summary}]}),
    ));
    let confirmed: &[&str] = if state == HypothesisState::Confirmed { &[id] } else { &[] };
    let open: &[&str] = if state == HypothesisState::Confirmed { &[] } else { &[id] };
    calls.push((
        "complete_investigation".to_owned(),
        json!({
            "confidence": "high",
            "root_cause_summary": format!("{summary} This session cleaned up; it looked for no cause."),
            "confirmed_hypotheses": confirmed,
            "refuted_hypotheses": [],
            "unverifiable_hypotheses": open,
            "contradicted_hypotheses": [],
            "recommended_actions": [],
            "findings": [],
            "open_questions": [],
            "waived": [],
        }),
    ));
    Turn { text: summary, calls }
}
