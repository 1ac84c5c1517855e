//! A session event by event, as plain text.

use crate::HypothesisState;
use crate::event::{
    Content, Done, Event, Finding, ForecastVerdict, Instruction, ModelAnswered, Recorded, Reply,
};
use crate::report::amount::{clock, count, dollars, time};
use crate::report::spell::{fit, plain};
use crate::report::step_outcome::answer;

/// How many columns a line has at most.
const COLUMNS: usize = 100;
/// How many columns stand in front of what happened.
const MARGIN: usize = 18;

/// Returns a session as a timeline: a line or two for each event, at most 100 columns wide, with times since the beginning.
///
/// It needs no state, so it tells also what cannot be folded. Data is cut to fit, and what is cut ends in `…`; the audit
/// holds each command whole.
#[must_use]
pub fn timeline(events: &[Recorded], color: bool) -> String {
    let Some(first) = events.first() else { return "The session has no events.\n".to_owned() };
    let number = u64::try_from(events.len()).unwrap_or(u64::MAX);
    let mut lines = vec![format!("Began {} (UTC), {}", first.at, count(number, "event"))];
    for event in events {
        let (happened, detail, tone) = match &event.content {
            Content::Known(known) => words(known),
            Content::Foreign => {
                let what = format!("{}: an event of a later version, not understood here", event.kind);
                (what, None, Tone::Warning)
            }
            Content::Erased => (format!("{}: erased, its digest is left", event.kind), None, Tone::Quiet),
        };
        let (margin, moment) = (" ".repeat(MARGIN), clock(event.at.since(first.at)));
        let head = format!("{:<MARGIN$}", format!("+{moment} #{}", event.seq));
        lines.push(paint(&fit(&plain(&format!("{head}{happened}")), COLUMNS), tone, color));
        lines.extend(detail.map(|detail| fit(&format!("{margin}{}", plain(&detail)), COLUMNS)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn paint(line: &str, tone: Tone, color: bool) -> String {
    let code = match tone {
        Tone::Normal => None,
        Tone::Quiet => Some("2"),
        Tone::Good => Some("32"),
        Tone::Warning => Some("33"),
        Tone::Bad => Some("31"),
    };
    match code.filter(|_| color) {
        Some(code) => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
        None => line.to_owned(),
    }
}

/// How an event is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Normal,
    Quiet,
    Good,
    Warning,
    Bad,
}

/// What happened, what belongs to it, and how it is meant.
type Words = (String, Option<String>, Tone);

/// Tells an event in a line, and in a second one where there is more.
fn words(event: &Event) -> Words {
    match event {
        Event::Opened(opened) => {
            let (who, investigator) = (&opened.requester, &opened.investigator);
            let opened_by = format!(
                "{who} asks in {}; {} {} thinks",
                opened.origin.place, investigator.provider, investigator.model
            );
            (opened_by, Some(opened.symptom.clone()), Tone::Normal)
        }
        Event::HypothesisSet(set) => {
            let tone = match set.state {
                HypothesisState::Confirmed => Tone::Good,
                HypothesisState::Contradicted | HypothesisState::Unverifiable => Tone::Warning,
                HypothesisState::Active | HypothesisState::Refuted | HypothesisState::Withdrawn => {
                    Tone::Normal
                }
            };
            let why = set.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            (format!("{} is {} ({}{why})", set.id, set.state, set.by), set.description.clone(), tone)
        }
        Event::ModelAsked(asked) => {
            let left_out =
                if asked.compacted > 0 { format!(", {} left out", asked.compacted) } else { String::new() };
            let (messages, tokens) = (count(asked.messages.into(), "message"), asked.tokens);
            (
                format!("turn {}: asked with {messages}, {tokens} tokens{left_out}", asked.turn),
                None,
                Tone::Quiet,
            )
        }
        Event::ModelAnswered(answered) => answered_words(answered),
        Event::AnswerFailed(failed) => {
            (format!("turn {}: no answer", failed.turn), Some(failed.problem.clone()), Tone::Warning)
        }
        Event::Proposed(proposed) => {
            let hypothesis =
                proposed.hypothesis.as_deref().map(|id| format!(" for {id}")).unwrap_or_default();
            let (step, tool, why) = (proposed.step, &proposed.tool, &proposed.reasoning);
            (
                format!("{step}: {tool}{hypothesis}: {why}"),
                Some(format!("$ {}", proposed.command)),
                Tone::Normal,
            )
        }
        Event::Classified(judged) => {
            let (step, verdict, rule, reason) = (judged.step, &judged.verdict, &judged.rule, &judged.reason);
            let command = (judged.round > 1).then(|| format!("$ {}", judged.command));
            (format!("{step}: {verdict}, round {}, {rule}: {reason}", judged.round), command, Tone::Quiet)
        }
        Event::ApprovalRequested(asked) => {
            let who = count(asked.votes_needed.into(), "approval");
            let what =
                format!("{}: {who} needed until {} ({})", asked.step, asked.expires_at, asked.approval);
            let warned = "an earlier run was cut off, nobody knows whether it took effect".to_owned();
            (what, asked.outcome_unknown.then_some(warned), Tone::Warning)
        }
        Event::ApprovalVoted(vote) => {
            let yes = if vote.approves { "yes" } else { "no" };
            (format!("{} votes {yes} ({})", vote.who, vote.approval), None, Tone::Normal)
        }
        Event::ApprovalDecided(decided) => {
            let (detail, tone) = match &decided.answer {
                Reply::Approve => (None, Tone::Good),
                Reply::Deny { reason } => (Some(reason.clone()), Tone::Bad),
                Reply::Modify { command } => (Some(format!("$ {command}")), Tone::Warning),
            };
            let (step, who, word) = (decided.step, &decided.who, answer(&decided.answer));
            (format!("{step}: {word} by {who} ({})", decided.approval), detail, tone)
        }
        Event::ApprovalExpired(expired) => {
            (format!("{}: nobody answered in time ({})", expired.step, expired.approval), None, Tone::Bad)
        }
        Event::Intent(intent) => {
            let by =
                intent.approval.as_deref().map(|name| format!(", {name} is used up")).unwrap_or_default();
            (format!("{}: about to run{by}", intent.step), None, Tone::Quiet)
        }
        Event::Executing(running) => {
            (format!("{}: runs (owner {})", running.step, running.epoch), None, Tone::Quiet)
        }
        Event::Done(done) => done_words(done),
        Event::Unknown(unknown) => {
            let what = format!("{}: cut off, nobody knows whether it took effect", unknown.step);
            (what, None, Tone::Bad)
        }
        Event::Observed(seen) => (
            format!("{}: {} ({:?}, {} bytes)", seen.id, seen.what, seen.source, seen.bytes),
            None,
            Tone::Normal,
        ),
        Event::Returned(returned) => {
            let refused = returned.refused.map(|why| format!(", refused: {why:?}")).unwrap_or_default();
            let tone = if returned.is_error { Tone::Warning } else { Tone::Quiet };
            (
                format!(
                    "{} ({}) returns {} bytes{refused}",
                    returned.call,
                    returned.tool,
                    returned.content.len()
                ),
                None,
                tone,
            )
        }
        Event::FindingAccepted(found) => finding("holds", &found.finding, &found.why, Tone::Good),
        Event::FindingRejected(found) => finding("is rejected", &found.finding, &found.why, Tone::Warning),
        Event::HumanMessage(said) => {
            let instruction = match said.instruction {
                Instruction::Steer => "",
                Instruction::Stop => " and wants it to stop",
                Instruction::Report => " and wants the report now",
            };
            (format!("{} says{instruction}", said.who), Some(said.text.clone()), Tone::Normal)
        }
        Event::TakeRequested(_) => ("the agent wants to use its consent".to_owned(), None, Tone::Quiet),
        Event::Taken(taken) => (format!("{}: handed over to the agent, once", taken.step), None, Tone::Good),
        Event::Attended(attended) => {
            let what = if attended.waits { "the agent waits again" } else { "the agent waits no longer" };
            (what.to_owned(), None, Tone::Quiet)
        }
        Event::Alerted(alerted) => {
            let what = format!("the sender says: {} ({} alerts)", alerted.status.word(), alerted.alerts);
            (what, Some(alerted.text.clone()).filter(|text| !text.is_empty()), Tone::Normal)
        }
        Event::ForecastChecked(checked) => {
            let tone = match checked.verdict {
                ForecastVerdict::Confirmed => Tone::Good,
                ForecastVerdict::Contradicted => Tone::Bad,
                ForecastVerdict::Unknown => Tone::Quiet,
            };
            let what =
                format!("{}: its forecast is {}: {}", checked.step, checked.verdict.word(), checked.words);
            (what, Some(checked.flows.join("\n")).filter(|flows| !flows.is_empty()), tone)
        }
        Event::Reworded(again) => {
            (format!("{} reworded the complaint", again.who), Some(again.symptom.clone()), Tone::Normal)
        }
        Event::Reopened(again) => {
            (format!("{} goes on behind the report", again.who), Some(again.text.clone()), Tone::Normal)
        }
        Event::Noted(noted) => {
            (format!("note to the model ({:?})", noted.reason), Some(noted.text.clone()), Tone::Quiet)
        }
        Event::Discarded(discarded) => (format!("discarded: {}", discarded.why), None, Tone::Quiet),
        Event::BudgetSpent(spent) => {
            (format!("budget spent: {}, {} of {}", spent.what, spent.used, spent.limit), None, Tone::Warning)
        }
        Event::Resumed(resumed) => (format!("taken up again (owner {})", resumed.epoch), None, Tone::Normal),
        Event::Concluded(end) => {
            let what = format!("concluded by {}: {}, confidence {}", end.by, end.outcome, end.confidence);
            (what, Some(end.summary.clone()), Tone::Good)
        }
        Event::Delivered(sent) => {
            (format!("{} delivered to {}", sent.what, sent.place), Some(sent.digest.to_string()), Tone::Quiet)
        }
    }
}

fn answered_words(answered: &ModelAnswered) -> Words {
    let calls = answered.calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>();
    let calls = if calls.is_empty() { "nothing".to_owned() } else { calls.join(", ") };
    let cost = answered.cost_micros.map_or("unknown cost".to_owned(), dollars);
    let latency = time(std::time::Duration::from_millis(answered.latency_ms));
    let what = format!(
        "turn {}: {} calls {calls} ({latency}, {cost})",
        answered.turn, answered.investigator.provider
    );
    (what, Some(answered.text.clone()).filter(|text| !text.is_empty()), Tone::Normal)
}

fn done_words(done: &Done) -> Words {
    let mut what = format!("{}: {}, {}", done.step, done.status, done.action);
    if let Some(error) = &done.error {
        what += &format!(", {error}");
    }
    if let Some(code) = done.exit_code {
        what += &format!(", exit {code}");
    }
    if let Some(millis) = done.duration_ms {
        what += &format!(", {}", time(std::time::Duration::from_millis(millis)));
    }
    let tone = if done.status == "completed" { Tone::Good } else { Tone::Bad };
    let detail = Some(done.reason.clone()).filter(|reason| done.status != "completed" && !reason.is_empty());
    (format!("{what} ({})", done.audit_id), detail, tone)
}

fn finding(verb: &str, finding: &Finding, why: &str, tone: Tone) -> Words {
    let ids = finding.evidence.iter().map(|citation| citation.observation.to_string()).collect::<Vec<_>>();
    let what = format!("{} {} {verb} ({}): {why}", finding.code, finding.object, ids.join(", "));
    (what, Some(finding.statement.clone()), tone)
}
