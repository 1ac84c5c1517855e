//! The report from its first line to its last.

use crate::event::{Instruction, Rechecked};
use crate::model::Investigator;
use crate::recheck;
use crate::report::answer::{answer, is_playbook};
use crate::report::audit::integrity;
use crate::report::markdown::{code, quote, text};
use crate::report::rca::{cause, checked, close, flows, proof, road};
use crate::state::State;

/// Returns the report on a session as Markdown. The text of its first line begins with `Root cause`, `No fault found` or
/// `Inconclusive`; with `Interim report` while the session runs.
///
/// It follows from the state alone: see [`crate::report::reported`] for which events to fold.
#[must_use]
pub fn rca(state: &State) -> String {
    let rows =
        state.concluded.iter().flat_map(|(_, concluded)| &concluded.recheck).cloned().collect::<Vec<_>>();
    let shown = state.shown();
    let mut sections = if rows.is_empty() { investigated(shown) } else { checked_again(shown, &rows) };
    if let Some(first) = sections.first_mut() {
        *first = answer(state).markdown();
    }
    let mut report =
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n");
    report.push('\n');
    report
}

/// A second look at what was found tells of nothing else: the report before it stands.
fn checked_again(state: &State, rows: &[Rechecked]) -> Vec<String> {
    vec![
        answer(state).markdown(),
        checked::attention(state),
        format!("## Symptom\n\n{}", quote(&state.opened.symptom)),
        recheck::report(state, rows),
        close::actions(state),
        about(state),
        integrity(state),
    ]
}

fn investigated(state: &State) -> Vec<String> {
    vec![
        answer(state).markdown(),
        checked::attention(state),
        format!("## Symptom\n\n{}", quote(&state.opened.symptom)),
        close::actions(state),
        cause::accepted(state),
        flows::flows(state),
        flows::platform(state),
        flows::noticed(state),
        cause::claim(state),
        cause::ruled_out(state),
        road::machines(state),
        road::roads(state),
        close::waived(state),
        close::questions(state),
        close::confidence(state),
        close::cost_and_time(state),
        cause::rejected(state),
        checked::failures(state),
        if state.approvals.is_empty() { String::new() } else { checked::approvals(state, false) },
        proof::evidence(state),
        about(state),
        integrity(state),
    ]
}

/// Returns what is to be done, in steps, as Markdown; empty where nothing is recommended.
#[must_use]
pub fn steps(state: &State) -> String {
    close::actions(state.shown())
}

/// Returns what shows each fault, what was ruled out and what was read, as Markdown.
#[must_use]
pub fn evidence(state: &State) -> String {
    let state = state.shown();
    let sections = [
        cause::accepted(state),
        flows::flows(state),
        flows::noticed(state),
        cause::ruled_out(state),
        proof::evidence(state),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn about(state: &State) -> String {
    let opened = &state.opened;
    let mut lines = vec![
        format!("- Session: {}", code(state.session.as_str())),
        format!("- Opened: {}", state.opened_at),
    ];
    match &state.concluded {
        Some((at, concluded)) => {
            lines.push(format!("- Ended: {at}, by {}", ended_by(state, &concluded.by)));
            let (outcome, confidence) = (concluded.outcome, concluded.confidence);
            let claimed = concluded
                .claimed
                .filter(|claimed| *claimed != confidence)
                .map(|claimed| format!("; the investigator claimed {claimed}"));
            let claimed = claimed.unwrap_or_default();
            lines.push(format!("- Outcome: {outcome}, confidence {confidence}{claimed}"));
        }
        None => {
            lines.push(format!(
                "- Ended: not yet; last event {}, standing: {}",
                state.last_at,
                state.standing()
            ));
            lines.push("- Outcome: none yet".to_owned());
        }
    }
    lines.push(format!("- Asked by: {} in {}", text(&opened.requester), text(&opened.origin.place)));
    lines.push(format!("- Brain: {}", investigators(state)));
    if let Some((who, instruction)) = &state.end_request {
        let instruction = match instruction {
            Instruction::Stop => "stop",
            Instruction::Report => "report now",
            Instruction::Steer => "go on",
        };
        lines.push(format!("- {} wanted it to {instruction}", text(who)));
    }
    if let Some(spent) = &state.budget_spent {
        lines.push(format!("- Budget spent: {} ({} of {})", text(&spent.what), spent.used, spent.limit));
    }
    lines.push(format!("- Version: {}", text(&opened.version)));
    format!("## About this report\n\n{}", lines.join("\n"))
}

fn ended_by(state: &State, by: &str) -> String {
    match by {
        "model" if is_playbook(&state.opened.investigator) => "the playbook".to_owned(),
        "model" => "the model".to_owned(),
        "human" => "a person".to_owned(),
        "budget" => "a limit".to_owned(),
        "code" => "the code that checks again".to_owned(),
        other => text(other),
    }
}

/// Returns who thought: with a fallback it need not be one.
fn investigators(state: &State) -> String {
    let mut all: Vec<&Investigator> = vec![&state.opened.investigator];
    for turn in state.turns() {
        if !all.contains(&&turn.investigator) {
            all.push(&turn.investigator);
        }
    }
    all.into_iter().map(investigator).collect::<Vec<_>>().join("; then ")
}

/// Returns who thinks, and where.
pub(in crate::report) fn investigator(investigator: &Investigator) -> String {
    let mut words = vec![text(&investigator.provider)];
    words.extend((!investigator.model.is_empty()).then(|| text(&investigator.model)));
    words.push(match &investigator.host {
        Some(host) => format!("at {}", text(host)),
        None => "inside this process".to_owned(),
    });
    words.join(" ")
}
