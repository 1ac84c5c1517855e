//! The outcome of a step, in words that never claim more than the ledger knows.

use crate::event::{ApprovalRequested, Done, Reply};
use crate::state::{Approval, Ending, Phase, State, Step};
use ghost_base::Timestamp;

/// Returns the command that takes back what was asked about: foreseen before it ran, or named by what was read after it.
#[must_use]
pub fn undone_by<'a>(state: &'a State, step: &Step, asked: &'a ApprovalRequested) -> Option<&'a str> {
    let foreseen = asked.forecast.as_ref().and_then(|forecast| forecast.undo.as_deref());
    let checked = || state.forecasts_checked.iter().find(|checked| checked.step == step.id);
    foreseen.or_else(|| checked()?.undo.as_deref())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepOutcome {
    /// It is not over.
    Open,
    /// It ran to its end, and its end is known.
    Ran,
    /// It did not run, or went wrong.
    Failed,
    /// A human denied it, or nobody answered.
    Refused,
    /// Nobody knows whether it took effect.
    Unknown,
}

/// Returns the outcome of a step. A run that was interrupted stays unknown until a later run of it has begun.
pub(super) fn step_outcome(state: &State, step: &Step) -> StepOutcome {
    let Some(done) = &step.done else {
        return match &step.phase {
            Phase::Unknown => StepOutcome::Unknown,
            // After the end of the session nobody records it any more.
            Phase::Executing { .. } if state.concluded.is_some() && !state.is_behind_result(step) => {
                StepOutcome::Unknown
            }
            // A refused second run does not undo the first.
            Phase::Expired { .. } | Phase::Decided { answer: Reply::Deny { .. }, .. } => {
                if step.outcome_unknown { StepOutcome::Unknown } else { StepOutcome::Refused }
            }
            Phase::Proposed
            | Phase::Judged
            | Phase::AwaitingApproval { .. }
            | Phase::Decided { .. }
            | Phase::Intended { .. }
            | Phase::Executing { .. }
            | Phase::Done => StepOutcome::Open,
        };
    };
    match done.status.as_str() {
        "completed" => StepOutcome::Ran,
        _ if step.outcome_unknown => StepOutcome::Unknown,
        "denied" => StepOutcome::Refused,
        _ => StepOutcome::Failed,
    }
}

/// Returns the outcome of a step as a sentence, as plain data.
pub(super) fn sentence(state: &State, step: &Step) -> String {
    let cut_off = "nobody knows whether it took effect";
    let end = step.done.as_ref().map(ending);
    match (step_outcome(state, step), end) {
        (StepOutcome::Unknown, Some(end)) => format!("an earlier run was cut off and {cut_off}; then {end}"),
        (StepOutcome::Unknown, None) => format!("it was cut off: {cut_off}"),
        (_, None) if step.outcome_unknown => {
            format!("an earlier run was cut off and {cut_off}; now: {}", phase(step))
        }
        (_, Some(end)) if step.outcome_unknown => {
            format!("an earlier run was cut off and {cut_off}; run again: {end}")
        }
        (_, Some(end)) => end,
        (_, None) => phase(step).to_owned(),
    }
}

fn ending(done: &Done) -> String {
    let mut words = vec![done.status.clone()];
    words.extend(done.error.clone());
    words.extend(done.exit_code.map(|code| format!("exit {code}")));
    if done.status != "completed" && !done.reason.is_empty() {
        words.push(done.reason.clone());
    }
    words.join(", ")
}

fn phase(step: &Step) -> &'static str {
    match &step.phase {
        Phase::Proposed => "proposed, not judged yet",
        Phase::Judged => "judged, not run",
        Phase::AwaitingApproval { .. } => "waits for an answer",
        Phase::Decided { answer: Reply::Approve, .. } => "approved, not started",
        Phase::Decided { answer: Reply::Deny { .. }, .. } => "denied",
        Phase::Decided { answer: Reply::Modify { .. }, .. } => "changed by a human, not judged yet",
        Phase::Expired { .. } => "nobody answered in time",
        Phase::Intended { .. } => "about to run, no start recorded",
        Phase::Executing { .. } => "started, no end recorded yet",
        Phase::Unknown | Phase::Done => "its end is not recorded",
    }
}

/// Returns the command as it ran, or as it stands now.
pub(super) fn command(step: &Step) -> &str {
    let ran = step.done.as_ref().and_then(|done| done.modified_command.as_deref());
    ran.unwrap_or_else(|| step.current())
}

/// Returns the questions that were asked about a step, in order.
pub(super) fn questions<'a>(
    state: &'a State,
    step: &'a Step,
) -> impl Iterator<Item = (&'a str, &'a Approval)> {
    let names = step.rounds.iter().flat_map(|round| &round.approvals);
    names.filter_map(|name| state.approvals.get(name).map(|approval| (name.as_str(), approval)))
}

/// Returns who settled a question about the step last: who, with what, when.
pub(super) fn decider<'a>(state: &'a State, step: &'a Step) -> Option<(&'a str, &'a Reply, Timestamp)> {
    questions(state, step).filter_map(|(_, approval)| decision(approval)).last()
}

/// Returns the decision on a question.
pub(super) fn decision(approval: &Approval) -> Option<(&str, &Reply, Timestamp)> {
    match approval.ending.as_ref()? {
        Ending::Decided { answer, who, at } => Some((who, answer, *at)),
        Ending::Expired { .. } => None,
    }
}

/// Returns the word for an answer.
pub(super) fn answer(reply: &Reply) -> &'static str {
    match reply {
        Reply::Approve => "approved",
        Reply::Deny { .. } => "denied",
        Reply::Modify { .. } => "modified",
    }
}
