//! What a session left behind: one capture is deleted, with consent, and nothing is investigated.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::brief::LeftBehind;
use crate::playbook::agenda::{Desk, hypothesis};
use crate::playbook::look::Look;
use crate::playbook::story::{Done, Ending, plain};
use crate::playbook::turn::Turn;
use crate::suspect::Layer;

const TOOL: &str = "run_shell_cmd";

impl Desk<'_> {
    /// Returns the deletion, where it is known in which region the machine is: captures belong to a region, not to a group.
    pub(super) fn tidying(&self, left: &LeftBehind) -> Option<Look> {
        let machines = self.ground.facts.get("machines").and_then(Value::as_array)?;
        let named = |machine: &&Value| {
            let name = machine.get("name").and_then(Value::as_str);
            name.is_some_and(|name| name.eq_ignore_ascii_case(&left.machine))
        };
        let region = machines.iter().find(named)?.get("region").and_then(Value::as_str)?;
        let plain = !region.is_empty() && region.chars().all(|char| char.is_ascii_alphanumeric());
        let Value::Object(arguments) = json!({"command": format!(
            "az network watcher packet-capture delete --location {region} --name {}",
            left.capture
        )}) else {
            return None;
        };
        let why = format!(
            "The packet capture {} of {} bears the name of a session that is said to have left it behind: as long as it is there nobody else can record on that machine. Its file in the account of captures stays.",
            left.capture, left.machine
        );
        plain.then(|| Look::once(TOOL, Layer::Wire, arguments, why))
    }
}

/// Says what is supposed where something was left behind.
pub(super) fn supposed(left: &LeftBehind) -> String {
    format!(
        "The packet capture {} of {} is still there, and nobody looks after it.",
        left.capture, left.machine
    )
}

/// Ends the session.
pub(super) fn end(desk: &Desk<'_>, left: &LeftBehind) -> Turn {
    let done: Option<&Done> = desk.story.calls(TOOL).last();
    let seen = done.map(Done::observations).unwrap_or_default().join(", ");
    let what = format!("The packet capture {} of {}", left.capture, left.machine);
    let (state, told) = match done.map(|done| (done.ending, done)) {
        Some((Ending::Completed, _)) => (
            HypothesisState::Confirmed,
            format!("{what} is deleted ({seen}). Its file in the account of captures stays."),
        ),
        Some((Ending::Denied, _)) => {
            (HypothesisState::Unverifiable, format!("{what} stays: a human denied that it is deleted."))
        }
        Some((Ending::Failed | Ending::Refused, done)) => (
            HypothesisState::Unverifiable,
            format!("{what} could not be deleted: {}.", done.reason().trim_end_matches('.')),
        ),
        None => (
            HypothesisState::Unverifiable,
            format!("{what} stays: its machine was not found, so that nobody knows its region."),
        ),
    };
    let told = plain(&told, 600);
    let id = hypothesis(Layer::Wire).unwrap_or("H-wire");
    let mut calls = Vec::new();
    if !desk.story.added(id) {
        calls.push((
            "manage_hypotheses".to_owned(),
            json!({"add": [{"id": id, "description": supposed(left)}]}),
        ));
    }
    calls
        .push(("manage_hypotheses".to_owned(), json!({"update": [{"id": id, "state": state, "why": told}]})));
    let confirmed: &[&str] = if state == HypothesisState::Confirmed { &[id] } else { &[] };
    let open: &[&str] = if state == HypothesisState::Confirmed { &[] } else { &[id] };
    calls.push((
        "complete_investigation".to_owned(),
        json!({
            "confidence": "high",
            "root_cause_summary": format!("{told} This session cleaned up; it looked for no cause."),
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
    Turn { text: told, calls }
}
