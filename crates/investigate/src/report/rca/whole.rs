//! The report from its first line to its last.

use crate::Outcome;
use crate::event::{Instruction, Rechecked};
use crate::model::Investigator;
use crate::recheck;
use crate::report::amount::count;
use crate::report::audit::integrity;
use crate::report::markdown::{code, quote, text};
use crate::report::rca::{cause, checked, close, flows, proof};
use crate::state::State;

/// Returns the report on a session as Markdown. The text of its first line begins with `Root cause`, `No fault found` or
/// `Inconclusive`; with `Interim report` while the session runs.
///
/// It follows from the state alone: see [`crate::report::reported`] for which events to fold.
#[must_use]
pub fn rca(state: &State) -> String {
    let rows =
        state.concluded.iter().flat_map(|(_, concluded)| &concluded.recheck).cloned().collect::<Vec<_>>();
    let sections = if rows.is_empty() { investigated(state) } else { checked_again(state, &rows) };
    let mut report =
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n");
    report.push('\n');
    report
}

/// A second look at what was found tells of nothing else: the report before it stands.
fn checked_again(state: &State, rows: &[Rechecked]) -> Vec<String> {
    vec![
        format!("# {}", headline(state)),
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
        format!("# {}", headline(state)),
        checked::attention(state),
        format!("## Symptom\n\n{}", quote(&state.opened.symptom)),
        cause::claim(state),
        cause::accepted(state),
        flows::flows(state),
        close::actions(state),
        flows::noticed(state),
        cause::ruled_out(state),
        close::waived(state),
        close::questions(state),
        close::confidence(state),
        close::cost_and_time(state),
        cause::rejected(state),
        checked::failures(state),
        if state.approvals.is_empty() { String::new() } else { checked::approvals(state) },
        proof::evidence(state),
        about(state),
        integrity(state),
    ]
}

/// Returns what came of the session, in the words of the report's first line.
#[must_use]
pub fn headline(state: &State) -> String {
    let Some((_, concluded)) = &state.concluded else {
        return "Interim report: the session is not over".to_owned();
    };
    if !concluded.recheck.is_empty() {
        return recheck::headline(&concluded.recheck).to_owned();
    }
    let findings = count(u64::try_from(state.accepted.len()).unwrap_or(u64::MAX), "finding");
    match concluded.outcome {
        Outcome::Confirmed => format!("Root cause: {findings}, confirmed"),
        Outcome::Likely => format!("Root cause: {findings}, likely"),
        Outcome::Inconclusive => "Inconclusive".to_owned(),
        Outcome::NoFaultFound => "No fault found".to_owned(),
    }
}

fn about(state: &State) -> String {
    let opened = &state.opened;
    let place = [Some(&opened.origin.place), opened.origin.channel.as_ref(), opened.origin.thread.as_ref()];
    let place = place.into_iter().flatten().map(|part| text(part)).collect::<Vec<_>>().join(" / ");
    let mut lines = vec![
        format!("- Session: {}", code(state.session.as_str())),
        format!("- Opened: {}", state.opened_at),
    ];
    match &state.concluded {
        Some((at, concluded)) => {
            lines.push(format!("- Ended: {at}, by {}", text(&concluded.by)));
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
    lines.push(format!("- Asked by: {} in {place}", text(&opened.requester)));
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
