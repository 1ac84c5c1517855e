//! Events from outside: where they may occur, and what they have to match.

use std::collections::BTreeSet;

use crate::decision::Effect;
use crate::event::{
    ApprovalDecided, ApprovalVoted, Classified, Delivered, Done, Event, Executing, Impact, Intent,
    ModelAnswered, Recorded, Reply, StepId,
};
use crate::replay::Divergence;
use crate::replay::compare::{event, other};
use crate::state::{Approval, Ending, Phase, State, Step};
use crate::{is_reclassified, may_be_reclassified};

/// The reason of a denial that was meant as an approval.
const UNREADABLE: &str = "the answer could not be read";

/// Tells whether an event came from outside and may stand here, behind `before`.
///
/// `None` where it has to follow from the state. `effect` computes what does.
pub(super) fn accept(
    state: &State,
    before: &Recorded,
    recorded: &Recorded,
    effect: impl FnOnce() -> Effect,
) -> Option<Result<(), Box<Divergence>>> {
    let behind = event(before);
    match event(recorded)? {
        Event::HumanMessage(_) | Event::Reworded(_) | Event::Discarded(_) => Some(Ok(())),
        Event::TakeRequested(_) | Event::Attended(_) => {
            let fits = state.opened.outside.is_some() && !state.is_over();
            Some(check(fits, recorded, "an event of this session", "one of a request from outside"))
        }
        Event::Alerted(_) => {
            let fits = state.opened.outside.is_none();
            Some(check(fits, recorded, "an event of this session", "one of an investigation"))
        }
        // What an owner wrote back may be of a session in any state.
        Event::Resumed(resumed) if resumed.restored > 0 => Some(Ok(())),
        Event::Resumed(_) => Some(resume(state, recorded)),
        // Boards and cards are shown beside the decisions, whenever somebody can be reached.
        Event::Delivered(delivered) if !delivered.is_report() => Some(shown(state, delivered, recorded)),
        Event::Reopened(_) => {
            let fits = state.is_reported();
            Some(check(
                fits,
                recorded,
                "that the report is delivered first",
                "somebody who goes on behind it",
            ))
        }
        // Nobody is asked where findings are checked again: what runs follows from them.
        Event::ModelAnswered(_) if state.rechecking.is_some() && state.asked.is_none() => None,
        // Nor where a request came from outside.
        Event::ModelAnswered(_) if state.opened.outside.is_some() => None,
        Event::ModelAnswered(answered) => Some(match behind {
            Some(Event::ModelAsked(asked)) if asked.turn == answered.turn => turn(state, answered, recorded),
            _ => Err(unasked(recorded, answered.turn)),
        }),
        Event::AnswerFailed(failed) => Some(match behind {
            Some(Event::ModelAsked(asked)) if asked.turn == failed.turn => Ok(()),
            _ => Err(unasked(recorded, failed.turn)),
        }),
        Event::ApprovalVoted(voted) => Some(vote(state, voted, recorded)),
        Event::ApprovalDecided(decided) => Some(decide(state, decided, recorded)),
        Event::ApprovalExpired(expired) => {
            let open = state
                .approvals
                .get(&expired.approval)
                .is_some_and(|open| open.ending.is_none() && open.requested.step == expired.step);
            // A consent can also run out before the run that it is for.
            let late = || match effect() {
                Effect::Execute { step, consumes: Some(approval), intended: false }
                | Effect::HandOver { step, consumes: Some(approval), .. } => {
                    step == expired.step && approval == expired.approval
                }
                Effect::ExecuteTogether { steps } => steps.contains(&expired.step),
                Effect::Execute { .. }
                | Effect::HandOver { .. }
                | Effect::Record(_)
                | Effect::Ask { .. }
                | Effect::Request(_)
                | Effect::Refuse { .. }
                | Effect::Withdraw { .. }
                | Effect::FileTask { .. }
                | Effect::Wait { .. }
                | Effect::Deliver
                | Effect::Rest => false,
            };
            let fits = open || late();
            Some(if fits { Ok(()) } else { Err(other(recorded, "no question that could run out")) })
        }
        // Approved measurements of one call begin together.
        Event::Intent(Intent { step, digest, approval: Some(approval) }) if runs_beside(state, *step) => {
            let fits = state.step(*step).is_some_and(|step| {
                let answered = matches!(&step.phase, Phase::Decided { approval: own, answer: Reply::Approve, .. } if own == approval);
                answered && step.round().is_some_and(|round| round.classified.digest == *digest)
            });
            Some(check(fits, recorded, "the intent to run what was approved", "another one"))
        }
        Event::Executing(Executing { step, .. }) if runs_beside(state, *step) => {
            let phase = state.step(*step).map(|step| &step.phase);
            let fits = matches!(phase, Some(Phase::Intended { approval: Some(_) }));
            Some(check(fits, recorded, "that what was intended begins", "another step"))
        }
        // Files, servers and sandboxes are there where it would run, and nowhere else.
        Event::Classified(judged) => found(state, judged, effect).map(|fits| {
            if fits { Ok(()) } else { Err(other(recorded, "the judgement of before, with what was found")) }
        }),
        // Only whoever began to run it can say how it ended, and says so at once; of reads side by side each when it is over.
        Event::Done(done) => match behind {
            Some(Event::Executing(Executing { step, .. })) if *step == done.step => {
                Some(ran(state, done, recorded))
            }
            Some(Event::Taken(taken)) if taken.step == done.step => Some(ran(state, done, recorded)),
            _ if is_beside(state, done.step) => Some(ran(state, done, recorded)),
            _ => None,
        },
        // A store that forgot leaves it open whether a command ran before the ledger says so.
        Event::Unknown(unknown) => {
            let phase = state.step(unknown.step).map(|step| &step.phase);
            let is_forgotten = matches!(
                phase,
                Some(
                    Phase::Judged
                        | Phase::Decided { answer: Reply::Approve, .. }
                        | Phase::Expired { .. }
                        | Phase::Intended { .. }
                )
            );
            is_forgotten.then_some(Ok(()))
        }
        Event::Opened(_)
        | Event::HypothesisSet(_)
        | Event::ModelAsked(_)
        | Event::Proposed(_)
        | Event::ApprovalRequested(_)
        | Event::Intent(_)
        | Event::Executing(_)
        | Event::Observed(_)
        | Event::Returned(_)
        | Event::FindingAccepted(_)
        | Event::FindingRejected(_)
        | Event::Noted(_)
        | Event::BudgetSpent(_)
        | Event::Concluded(_)
        | Event::Delivered(_)
        | Event::Taken(_)
        | Event::ForecastChecked(_) => None,
    }
}

/// Tells whether another step of the same call, which a human approved, runs while this one is about to begin.
fn runs_beside(state: &State, step: StepId) -> bool {
    let Some(step) = state.step(step) else { return false };
    let is_approved = |one: &Step| !one.consents.is_empty() && matches!(one.phase, Phase::Executing { .. });
    let mut others = state.steps.iter().filter(|one| one.id != step.id && one.call == step.call);
    others.any(|one| is_approved(one) && is_beside(state, one.id))
}

/// Tells whether a step is a declared script that runs.
fn is_beside(state: &State, step: StepId) -> bool {
    let runs = |step: &Step| step.script.is_some() && matches!(step.phase, Phase::Executing { .. });
    state.step(step).is_some_and(runs)
}

/// Tells whether a judgement is that of before but for what the gate found; `None` where it is the first one of its round.
fn found(state: &State, judged: &Classified, effect: impl FnOnce() -> Effect) -> Option<bool> {
    let step = state.step(judged.step)?;
    let before = &step.round().filter(|round| round.classified.round == judged.round)?.classified;
    let (verdict, rule, reason) = (judged.verdict.clone(), judged.rule.clone(), judged.reason.clone());
    let impact = Some(Impact::Change);
    let fits = *judged == Classified { verdict, rule, reason, impact, ..before.clone() };
    let new = is_reclassified(judged) && (&judged.rule, &judged.reason) != (&before.rule, &before.reason);
    let due = || match effect() {
        Effect::Execute { step, .. } => step == judged.step,
        Effect::ExecuteTogether { steps } => steps.contains(&judged.step),
        Effect::Request(asked) => asked.step == judged.step,
        Effect::Record(_)
        | Effect::Ask { .. }
        | Effect::HandOver { .. }
        | Effect::Refuse { .. }
        | Effect::Withdraw { .. }
        | Effect::FileTask { .. }
        | Effect::Wait { .. }
        | Effect::Deliver
        | Effect::Rest => false,
    };
    Some(fits && new && may_be_reclassified(step) && due())
}

/// What is shown is the board, or the card of a question that was asked.
fn shown(state: &State, delivered: &Delivered, recorded: &Recorded) -> Result<(), Box<Divergence>> {
    let fits = match delivered.card() {
        Some(approval) => state.approvals.contains_key(approval),
        None => delivered.what == Delivered::BOARD,
    };
    check(fits, recorded, "a report, the board or a card of this session", &delivered.what)
}

fn unasked(recorded: &Recorded, turn: u32) -> Box<Divergence> {
    other(recorded, &format!("that turn {turn} is asked for first"))
}

fn check(holds: bool, recorded: &Recorded, expected: &str, found: &str) -> Result<(), Box<Divergence>> {
    if holds { Ok(()) } else { Err(Divergence::at(recorded, expected, found)) }
}

fn resume(state: &State, recorded: &Recorded) -> Result<(), Box<Divergence>> {
    let idle = state.open_approval().is_none() && state.concluded.is_none();
    check(idle, recorded, "that nobody is waited for", "a pause")
}

/// Every call has a name of its own.
fn turn(state: &State, answered: &ModelAnswered, recorded: &Recorded) -> Result<(), Box<Divergence>> {
    let mut known: BTreeSet<&str> = state.calls().map(|call| call.call.id.as_str()).collect();
    for call in &answered.calls {
        let fits = !call.id.is_empty() && known.insert(&call.id);
        check(fits, recorded, "a new name for each call", &format!("{:?}", call.id))?;
    }
    Ok(())
}

fn open<'a>(state: &'a State, name: &str, recorded: &Recorded) -> Result<&'a Approval, Box<Divergence>> {
    let found = state.approvals.get(name).filter(|found| found.ending.is_none());
    found.ok_or_else(|| Divergence::at(recorded, "an answer to an open question", format!("one to {name:?}")))
}

fn vote(state: &State, voted: &ApprovalVoted, recorded: &Recorded) -> Result<(), Box<Divergence>> {
    let asked = open(state, &voted.approval, recorded)?;
    let again = voted.approves && asked.votes.iter().any(|vote| vote.who == voted.who);
    check(!again, recorded, "one yes of each person", &format!("a second one of {:?}", voted.who))?;
    let decided = asked.votes.iter().any(|vote| !vote.approves) || enough(asked);
    check(!decided, recorded, "the decision", "one more vote")?;
    let late = voted.at >= asked.requested.expires_at;
    check(!late, recorded, "a vote in time", &format!("one at {}", voted.at))
}

/// Tells whether so many different people said yes as were needed.
fn enough(asked: &Approval) -> bool {
    let yes: BTreeSet<&str> =
        asked.votes.iter().filter(|vote| vote.approves).map(|vote| vote.who.as_str()).collect();
    u32::try_from(yes.len()).is_ok_and(|yes| yes >= asked.requested.votes_needed.max(1))
}

/// A decision is the last vote, and what was voted.
fn decide(state: &State, decided: &ApprovalDecided, recorded: &Recorded) -> Result<(), Box<Divergence>> {
    let asked = open(state, &decided.approval, recorded)?;
    let step = asked.requested.step;
    check(step == decided.step, recorded, &step.to_string(), &decided.step.to_string())?;
    let Some(last) = asked.votes.last() else { return Err(other(recorded, "a vote")) };
    let theirs = last.who == decided.who && last.at == decided.at;
    let found = format!("one of {:?} at {}", decided.who, decided.at);
    check(theirs, recorded, &format!("the decision of {:?} at {}", last.who, last.at), &found)?;
    let word = if last.approves { "a yes" } else { "a no" };
    match &decided.answer {
        Reply::Approve => {
            check(last.approves && enough(asked), recorded, "votes that suffice", "an approval")
        }
        Reply::Modify { .. } => check(!last.approves, recorded, word, "a modification"),
        // A yes that could not be read was taken for a no.
        Reply::Deny { reason } => {
            check(!last.approves || reason == UNREADABLE, recorded, word, &format!("a denial: {reason:?}"))
        }
    }
}

/// A run that was completed had the verdict and the consent that it needed.
fn ran(state: &State, done: &Done, recorded: &Recorded) -> Result<(), Box<Divergence>> {
    let Some(step) = state.step(done.step) else { return Err(other(recorded, "a step that is there")) };
    let Some(round) = step.round() else { return Err(other(recorded, "a judgement first")) };
    let kept = done.output_facts().evidence;
    let fits = done.evidence == kept;
    check(fits, recorded, &format!("the evidence {kept:?}"), &format!("{:?}", done.evidence))?;
    if done.status != "completed" {
        return check(done.status == "error" || done.status == "denied", recorded, "a status", &done.status);
    }
    let (modified, verdict) = (step.rounds.len() > 1, round.classified.verdict.as_str());
    check(done.classification == verdict, recorded, verdict, &done.classification)?;
    let reason = round.classified.reason.as_str();
    check(done.reason == reason, recorded, &format!("the reason {reason:?}"), &format!("{:?}", done.reason))?;
    let action = match (modified, verdict) {
        (true, _) => "user_modified",
        (false, "SAFE") => "auto_approved",
        (false, _) => "user_approved",
    };
    check(done.action == action, recorded, action, &done.action)?;
    let command = modified.then(|| round.classified.command.clone());
    let changed = format!("the changed command {command:?}");
    check(done.modified_command == command, recorded, &changed, &format!("{:?}", done.modified_command))
}

/// What was refused did not run.
pub(super) fn refused(state: &State, done: &Done, recorded: &Recorded) -> Result<(), Box<Divergence>> {
    let ran = done.status == "completed" || done.exit_code.is_some() || done.evidence.is_some();
    check(!ran, recorded, "that it did not run", "a run")?;
    if done.error.as_deref() == Some("audit_failed") {
        return Ok(());
    }
    let round = state.step(done.step).and_then(|step| step.round());
    let verdict = round.map_or("", |round| round.classified.verdict.as_str());
    check(done.classification == verdict, recorded, verdict, &done.classification)?;
    let ending = round
        .and_then(|round| round.approvals.last())
        .and_then(|name| state.approvals.get(name)?.ending.as_ref());
    let (action, reason) = match ending {
        None => ("blocked", round.map(|round| &round.classified.reason)),
        Some(Ending::Expired { .. }) => ("expired", None),
        Some(Ending::Decided { answer: Reply::Deny { reason }, .. }) => ("user_denied", Some(reason)),
        Some(Ending::Decided { .. }) => ("user_denied", None),
    };
    check(done.action == action, recorded, action, &done.action)?;
    let fits = reason.is_none_or(|reason| *reason == done.reason);
    check(fits, recorded, &format!("the reason {reason:?}"), &format!("{:?}", done.reason))
}
