//! What happened after a decision, in words that say no more than the events.

use crate::bot::show::amount::{clock, seconds};
use crate::bot::show::card::subject::Subject;
use crate::bot::show::text::prose;
use ghost_investigate::event::{Done, ForecastVerdict, Reply};
use ghost_investigate::outside::offered_until;
use ghost_investigate::report::undone_by;
use ghost_investigate::state::Phase;

const CUT_OFF: &str = "it was cut off, and nobody knows whether it took effect";

/// Tells what came of an approval.
pub(super) fn approved(subject: &Subject<'_>) -> String {
    match subject.later() {
        Some(later) if later.requested.outcome_unknown => format!("{CUT_OFF}; asked again"),
        Some(_) => "nothing ran: something else was found where it would run; asked again".to_owned(),
        None => run(subject),
    }
}

/// Tells what came of a change.
pub(super) fn modified(subject: &Subject<'_>) -> String {
    let next = subject.judged.round.saturating_add(1);
    let Some(round) = subject.step.rounds.iter().find(|round| round.classified.round == next) else {
        return match &subject.step.done {
            Some(done) => ended(subject, done),
            None => "being judged".to_owned(),
        };
    };
    let judged = &round.classified;
    match judged.verdict.as_str() {
        "SAFE" => format!("the new command is SAFE: {}", run(subject)),
        "BLOCKED" => format!("the new command is BLOCKED, nothing ran: {}", prose(&judged.reason, 200)),
        _ if round.approvals.is_empty() => "nothing ran yet".to_owned(),
        _ => "nothing ran, the new command has a card of its own".to_owned(),
    }
}

/// Tells whether the forecast of what was approved came true, and which flows it was wrong about; nothing where nobody looked.
pub(super) fn checked(subject: &Subject<'_>) -> Option<(&'static str, String, Vec<String>)> {
    let name = subject.step.consents.last()?;
    let mut all = subject.state.forecasts_checked.iter();
    let checked = all.find(|checked| checked.step == subject.step.id && name == subject.name)?;
    let title = match checked.verdict {
        ForecastVerdict::Confirmed => "Forecast confirmed",
        ForecastVerdict::Contradicted => "Forecast contradicted",
        ForecastVerdict::Unknown => "Forecast not checked",
    };
    let flows = checked.flows.iter().map(|flow| prose(flow, 200)).collect();
    Some((title, prose(&checked.words, 300), flows))
}

/// Returns the command that takes back what was approved and ran.
pub(super) fn undo<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let ran = subject.step.done.as_ref().is_some_and(|done| done.status == "completed");
    let own = subject.step.consents.last().is_some_and(|name| name == subject.name);
    undone_by(subject.state, subject.step, &subject.approval.requested).filter(|_| ran && own)
}

fn run(subject: &Subject<'_>) -> String {
    let step = subject.step;
    if subject.state.opened.outside.is_some()
        && step.done.is_none()
        && let Some(until) = offered_until(subject.state)
    {
        return format!("the agent that asked can use it once, until {}", clock(until));
    }
    if let Some(done) = &step.done {
        return ended(subject, done);
    }
    match &step.phase {
        Phase::Executing { .. }
            if subject.state.concluded.is_some() && !subject.state.is_behind_result(step) =>
        {
            CUT_OFF.to_owned()
        }
        Phase::Executing { .. } => "running".to_owned(),
        Phase::Unknown => CUT_OFF.to_owned(),
        Phase::Proposed
        | Phase::Judged
        | Phase::AwaitingApproval { .. }
        | Phase::Decided { .. }
        | Phase::Expired { .. }
        | Phase::Intended { .. }
        | Phase::Done => "about to run".to_owned(),
    }
}

fn ended(subject: &Subject<'_>, done: &Done) -> String {
    let step = subject.step;
    let before = if step.outcome_unknown { "an earlier run was cut off; then it " } else { "" };
    let reason = prose(&done.reason, 200);
    let because = if reason.is_empty() { reason } else { format!(": {reason}") };
    let what = match done.status.as_str() {
        "completed" if subject.state.opened.outside.is_some() => {
            "handed over to the agent, which runs it where it is".to_owned()
        }
        "completed" => {
            let time = done.duration_ms.filter(|millis| *millis >= 100);
            let time = time.map(|millis| format!(" in {}", seconds(millis))).unwrap_or_default();
            let exit = done.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
            format!("ran{time}{exit}")
        }
        "denied" => format!("did not run{because}"),
        _ => {
            let error =
                done.error.as_deref().map(|word| format!(" ({})", prose(word, 40))).unwrap_or_default();
            format!("failed{error}{because}")
        }
    };
    let known = if done.restored { " (from the audit: the store had lost it)" } else { "" };
    format!("{before}{what}{known}")
}

/// True if the question was closed because the store forgot what became of it.
pub(super) fn is_doubted(subject: &Subject<'_>) -> bool {
    subject.step.outcome_unknown && !subject.approval.requested.outcome_unknown
}

/// Tells what a no means for what may have run before.
pub(super) fn refused(subject: &Subject<'_>) -> &'static str {
    if subject.approval.requested.outcome_unknown {
        "Not run again; whether the earlier run took effect is not known."
    } else {
        "Nothing ran."
    }
}

/// Tells whether a no came from stopping the session and not from looking at the card.
pub(super) fn is_withdrawal(answer: &Reply) -> bool {
    // Whoever goes on later does not make a denial of it.
    matches!(answer, Reply::Deny { reason } if reason == Reply::STOPPED)
}
