//! The auditor's report, as Markdown: who did what, when, and by whose consent.

use crate::event::Instruction;
use crate::model::Stop;
use crate::report::amount::{cost, count, time};
use crate::report::markdown::{code, fence, quote, table, text};
use crate::report::rca;
use crate::report::step_outcome::{self, answer, decider, sentence};
use crate::state::{Entry, Round, State, Step, Turn};

/// Returns the auditor's report on a session as Markdown. It follows from the state alone.
#[must_use]
pub fn audit(state: &State) -> String {
    let sections = [
        format!("# Audit of session {}", text(state.session.as_str())),
        header(state),
        rca::hypotheses(state),
        commands(state),
        rca::approvals(state, true),
        turns(state),
        said(state),
        rca::budget(state),
        integrity(state),
    ];
    let mut report =
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n");
    report.push('\n');
    report
}

fn header(state: &State) -> String {
    let opened = &state.opened;
    let ended = match &state.concluded {
        Some((at, concluded)) => format!("{at} by {}, {}", text(&concluded.by), concluded.outcome),
        None => format!("not yet, last event {}", state.last_at),
    };
    let lines = [
        format!("- Opened: {} by {}", state.opened_at, text(&opened.requester)),
        format!("- Ended: {ended}"),
        format!("- Version: {}", text(&opened.version)),
        String::new(),
        quote(&opened.symptom),
    ];
    lines.join("\n")
}

/// Returns every command, whatever came of it, in the order of the ledger.
fn commands(state: &State) -> String {
    let title = "## Commands, in order of time";
    if state.steps.is_empty() {
        return format!("{title}\n\nNone was proposed.");
    }
    let steps = state.steps.iter().map(|step| command(state, step)).collect::<Vec<_>>();
    format!("{title}\n\n{}", steps.join("\n\n"))
}

fn command(state: &State, step: &Step) -> String {
    let (done, ran) = (step.done.as_ref(), step_outcome::command(step));
    let turn = state.turns().find(|turn| turn.calls.iter().any(|call| call.steps.contains(&step.id)));
    let turn = turn.map(|turn| format!(", turn {}", turn.number)).unwrap_or_default();
    let hypothesis = step.hypothesis.as_deref().map_or("no hypothesis".to_owned(), text);
    let mut lines = vec![
        format!("### {} · {}", step.id, step.at),
        String::new(),
        format!("- Audit id: {}", or_none(done.map(|done| done.audit_id.as_str()))),
        format!(
            "- Proposed by: tool {}, call {}{turn}, for {hypothesis}",
            code(&step.tool),
            code(&step.call)
        ),
        format!("- Wanted because: {}", text(&step.reasoning)),
    ];
    lines.extend(step.rounds.iter().map(|judged| round(state, judged)));
    lines.push(format!("- Action: {}", or_none(done.map(|done| done.action.as_str()))));
    let approver =
        decider(state, step).map(|(who, reply, at)| format!("{} ({} at {at})", text(who), answer(reply)));
    lines.push(format!("- Approver: {}", approver.unwrap_or_else(|| "none".to_owned())));
    lines.push(format!("- End: {}", text(&sentence(state, step))));
    lines.extend(step.done_at.map(|at| format!("- Recorded as ended: {at}")));
    let exit = done.and_then(|done| done.exit_code).map_or("none".to_owned(), |code| code.to_string());
    let duration = done.and_then(|done| done.duration_ms);
    let duration = duration.map_or("none".to_owned(), |ms| time(std::time::Duration::from_millis(ms)));
    lines.push(format!("- Exit: {exit}, duration: {duration}"));
    lines.push(format!("- Evidence: {}", or_none(done.and_then(|done| done.evidence.as_deref()))));
    lines.push(String::new());
    lines.push(fence(ran));
    if ran != step.command {
        lines.extend([String::new(), "Proposed at first:".to_owned(), String::new(), fence(&step.command)]);
    }
    lines.join("\n")
}

fn or_none(data: Option<&str>) -> String {
    data.filter(|data| !data.is_empty()).map_or("none".to_owned(), code)
}

fn round(state: &State, round: &Round) -> String {
    let judged = &round.classified;
    let (rule, reason) = (or_none(Some(&judged.rule)), text(&judged.reason));
    let impact = judged.impact.map(|impact| format!(", {}", impact.as_str())).unwrap_or_default();
    let mut lines = vec![
        format!(
            "- Round {}: {}{impact} (tier {}, rule {rule}): {reason}",
            judged.round,
            text(&judged.verdict),
            judged.tier
        ),
        format!("  - {}", or_none(Some(&judged.command))),
        format!("  - consent digest {}", code(&judged.digest.to_string())),
        format!("  - policy {}", code(&judged.policy.to_string())),
    ];
    let asked =
        round.approvals.iter().filter_map(|name| state.approvals.get(name).map(|found| (name, found)));
    lines.extend(asked.map(|(name, approval)| format!("  - {} {}", code(name), rca::ending(approval))));
    lines.join("\n")
}

fn turns(state: &State) -> String {
    let spent = &state.spent;
    let row = |turn: &Turn| {
        let calls = turn.calls.iter().map(|call| text(&call.call.tool)).collect::<Vec<_>>();
        let number = turn.number.to_string();
        vec![
            number,
            turn.at.to_string(),
            rca::investigator(&turn.investigator),
            calls.join(", "),
            text(&stop(&turn.stop)),
        ]
    };
    let rows = state.turns().map(row).collect::<Vec<_>>();
    let title = "## Model turns";
    if rows.is_empty() {
        return format!("{title}\n\nNone was answered.");
    }
    let header = ["Turn", "When (UTC)", "Brain", "Calls", "Ended by"];
    let total = format!("All turns: {} tokens, cost {}.", spent.tokens, cost(spent));
    format!("{title}\n\n{}\n\n{total}", table(&header, &rows))
}

fn stop(stop: &Stop) -> String {
    match stop {
        Stop::End => "its last word".to_owned(),
        Stop::Calls => "its calls".to_owned(),
        Stop::Length => "the limit of its length".to_owned(),
        Stop::Refused { why } => format!("a refusal: {why}"),
        Stop::Malformed { why } => format!("a malformed call: {why}"),
    }
}

fn said(state: &State) -> String {
    let lines = state.entries.iter().filter_map(|entry| match entry {
        Entry::Message { at, who, text: words, instruction } => {
            let instruction = match instruction {
                Instruction::Steer => "",
                Instruction::Stop => " (stop)",
                Instruction::Report => " (report now)",
            };
            Some(format!("- {at} {}{instruction}: {}", text(who), text(words)))
        }
        Entry::Note { .. } | Entry::Turn(_) => None,
    });
    let lines = lines.collect::<Vec<_>>();
    if lines.is_empty() { String::new() } else { format!("## What people said\n\n{}", lines.join("\n")) }
}

/// Returns the section: both heads, and the commands that check them.
pub(super) fn integrity(state: &State) -> String {
    let (session, head) = (&state.session, &state.head);
    let verify = format!("ghost audit verify DATA/audit/{session}.jsonl");
    let (audit, verify) = match state.audit_head() {
        Some(audit) => (code(audit), format!("{verify} --head {audit}")),
        None => ("none in the ledger".to_owned(), verify),
    };
    let lines = [
        "## Integrity".to_owned(),
        String::new(),
        format!("- Ledger: {}, head {}", count(state.seq, "event"), code(&head.to_string())),
        format!("- Audit head behind the last command: {audit}"),
        String::new(),
        "This text follows from the ledger alone. To check both chains, with `DATA` as the data folder:"
            .to_owned(),
        String::new(),
        fence(&format!("{verify}\nghost sessions show {session}")),
    ];
    lines.join("\n")
}
