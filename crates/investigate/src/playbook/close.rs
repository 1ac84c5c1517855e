//! The end: every hypothesis settled, every fault with what shows it, and what is still open.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::coverage;
use crate::playbook::agenda::PlaybookContext;
use crate::playbook::conversation::CallEnding;
use crate::playbook::findings::{self, CitedFault};
use crate::playbook::fix;
use crate::playbook::settle::{Settled, settle};
use crate::playbook::summary;
use crate::playbook::turn::Turn;
use crate::suspect::{Layer, Looked};

/// So often an end is tried.
const TRIES: usize = 4;

/// Ends the investigation.
pub(super) fn close(context: &PlaybookContext<'_>) -> Turn {
    let tried = context.conversation.calls("complete_investigation").count();
    if tried >= TRIES || !context.tools.contains(&"complete_investigation") {
        let text = "I cannot bring this to an end by myself: what I claim is not accepted. Please read the observations.".to_owned();
        return Turn { text, calls: Vec::new() };
    }
    let mut faults = findings::faults(context.symptom_text, context.incident, context.conversation);
    faults.retain(|fault| !is_rejected(context, fault));
    let codes: Vec<&str> = faults.iter().map(|fault| fault.suspect.code.as_str()).collect();
    // A machine at the end of a flow may be in another group, which the topology of the session's own does not list.
    let mut names = context.incident.names();
    let beside: Vec<String> =
        context.judged.machines().into_iter().filter(|name| !names.contains(name)).collect();
    names.extend(beside);
    let missing = coverage::missing(context.symptom_text, &names, &context.conversation.looked(), &codes);
    let lost = context.incident.machines().is_empty() && context.incident.accounts.is_empty();
    let mut settled = settle(context, &faults);
    let mut calls = Vec::new();
    if settled.is_empty() && context.conversation.board.is_empty() {
        // Nothing ends on an empty board.
        let supposed = "Something on the path between the machines in question breaks the traffic.";
        let why = "It is not known which machines are meant.".to_owned();
        calls.push((
            "manage_hypotheses".to_owned(),
            json!({"add": [{"id": "H-path", "description": supposed}]}),
        ));
        settled.push(Settled { id: "H-path".to_owned(), state: HypothesisState::Unverifiable, why });
    }
    if !settled.is_empty() {
        let update: Vec<Value> = settled
            .iter()
            .map(|known| json!({"id": known.id, "state": known.state, "why": known.why}))
            .collect();
        calls.push(("manage_hypotheses".to_owned(), json!({ "update": update })));
    }
    let question = lost.then(|| summary::question(context));
    let mut open: Vec<String> = question.iter().cloned().collect();
    if question.is_none() {
        open.extend(summary::open(context, &settled, &missing));
    }
    let summary = match &question {
        Some(question) => question.clone(),
        None => summary::summary(context, &faults, &missing),
    };
    let with = |state: HypothesisState| -> Vec<&str> {
        settled.iter().filter(|known| known.state == state).map(|known| known.id.as_str()).collect()
    };
    let findings: Vec<Value> = faults.iter().map(finding).collect();
    calls.push((
        "complete_investigation".to_owned(),
        json!({
            "confidence": confidence(&faults, &settled, &missing),
            "root_cause_summary": summary,
            "confirmed_hypotheses": with(HypothesisState::Confirmed),
            "refuted_hypotheses": with(HypothesisState::Refuted),
            "unverifiable_hypotheses": with(HypothesisState::Unverifiable),
            "contradicted_hypotheses": with(HypothesisState::Contradicted),
            "recommended_actions": fix::actions(context, &faults),
            "findings": findings,
            "open_questions": open,
            "waived": missing.iter().map(|gap| waived(context, gap)).collect::<Vec<_>>(),
        }),
    ));
    let text = question.unwrap_or_else(|| match faults.len() {
        0 if missing.is_empty() => {
            "Everything that could explain the symptom was looked at and is clean. I say so and end.".to_owned()
        }
        0 => "What I could look at does not explain the symptom. I say what is missing and end.".to_owned(),
        1 => "One fault is shown by the evidence, and the other layers were looked at. I settle the board and end.".to_owned(),
        some => format!("{some} faults are shown by the evidence, and the other layers were looked at. I settle the board and end."),
    });
    Turn { text, calls }
}

/// Says why a layer was not looked at.
fn waived(context: &PlaybookContext<'_>, gap: &Looked) -> Value {
    let why = match context.conversation.last_look(gap) {
        Some(CallEnding::Denied) => "nobody consented to it",
        Some(CallEnding::Completed) if gap.layer == Layer::Wire => {
            "recorded, but the recordings hold too little of it"
        }
        Some(CallEnding::Completed) => "it was looked at, and what was seen is not whole",
        Some(CallEnding::Failed | CallEnding::Refused) => "it was tried and could not be read",
        None => "what it is about is not known, or nothing here can look at it",
    };
    json!({"layer": gap.layer, "subject": gap.subject, "why": why})
}

fn finding(fault: &CitedFault) -> Value {
    let evidence: Vec<Value> = fault.observations.iter().map(|id| json!({ "observation": id })).collect();
    json!({
        "code": fault.suspect.code,
        "object": fault.suspect.object,
        "statement": summary::shown(fault),
        "evidence": evidence,
    })
}

/// Tells whether a gate would not have a fault before.
fn is_rejected(context: &PlaybookContext<'_>, fault: &CitedFault) -> bool {
    let mark = format!("findings_hold: {} {}:", fault.suspect.code, fault.suspect.object);
    let refused = context
        .conversation
        .calls("complete_investigation")
        .filter(|finished| finished.ending == CallEnding::Refused);
    refused
        .filter_map(|finished| finished.result.get("closed_gates").and_then(Value::as_array))
        .flatten()
        .any(|gate| gate.as_str().is_some_and(|gate| gate.starts_with(&mark)))
}

fn confidence(faults: &[CitedFault], settled: &[Settled], missing: &[Looked]) -> &'static str {
    let open = settled.iter().any(|known| known.state == HypothesisState::Unverifiable);
    match (faults.is_empty(), open || !missing.is_empty()) {
        (_, false) => "high",
        (false, true) => "medium",
        (true, true) => "low",
    }
}

/// Returns the call that ends a session in which nothing was found.
pub(super) fn nothing_found(
    text: &str,
    unverifiable: &[String],
    open_questions: &[&str],
    waived: &[Value],
) -> (String, Value) {
    let arguments = json!({
        "confidence": "low",
        "root_cause_summary": text,
        "confirmed_hypotheses": [],
        "refuted_hypotheses": [],
        "unverifiable_hypotheses": unverifiable,
        "contradicted_hypotheses": [],
        "recommended_actions": [],
        "findings": [],
        "open_questions": open_questions,
        "waived": waived,
    });
    ("complete_investigation".to_owned(), arguments)
}
