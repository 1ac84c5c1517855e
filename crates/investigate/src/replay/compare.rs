//! One decision against what is recorded.

use serde_json::Value;

use crate::decision::{Effect, observed_file_task};
use crate::event::{
    ApprovalRequested, ChangeForecast, Classified, Content, Delivered, Event, Executing, ForecastChecked,
    Intent, ModelAsked, Recorded, StepId, Taken,
};
use crate::replay::input::refused;
use crate::replay::{Divergence, ReplayInputs, Wording};
use crate::report;
use crate::state::{Phase, State};
use crate::tool::FileTask;
use ghost_base::Digest;
use ghost_shell::{Ruling, Verdict};

/// Compares an effect with the events that are recorded behind a state; returns how many of them it accounts for.
pub(super) fn compare(
    source: &ReplayInputs<'_>,
    state: &State,
    effect: &Effect,
    left: &[Recorded],
) -> Result<usize, Box<Divergence>> {
    let Some(first) = left.first() else { return Ok(0) };
    match effect {
        Effect::Record(events) => batch(&as_before(state, events, left), left),
        Effect::Ask { asked, .. } => {
            let mut asked = asked.clone();
            if let (Some(Event::ModelAsked(found)), Wording::Free) = (event(first), source.wording) {
                asked = ModelAsked { turn: asked.turn, ..found.clone() };
            }
            same(first, &Event::ModelAsked(asked)).map(|()| 1)
        }
        Effect::Request(requested) => same(first, &request(requested)).map(|()| 1),
        Effect::Execute { step, consumes, intended } => {
            execute(state, *step, consumes.as_deref(), *intended, first).map(|()| 1)
        }
        Effect::ExecuteTogether { steps } => together(state, steps, first).map(|()| 1),
        Effect::HandOver { step, consumes, key } => hand_over(state, (*step, consumes.as_deref(), key), left),
        Effect::Refuse { step } => match event(first) {
            Some(Event::Done(done)) if done.step == *step => refused(state, done, first).map(|()| 1),
            _ => Err(other(first, &format!("the end of {step}, which does not run"))),
        },
        Effect::Withdraw { approval } => Err(other(first, &format!("the end of question {approval}"))),
        Effect::FileTask { call, task } => done(source, state, call, task, first).map(|()| 1),
        Effect::Wait { .. } => Err(other(first, "something that arrives")),
        Effect::Deliver => deliver(source, state, first).map(|()| 1),
        Effect::Rest => Err(other(first, "nothing more")),
    }
}

/// Returns the event that is recorded, where it is one.
pub(super) fn event(recorded: &Recorded) -> Option<&Event> {
    match &recorded.content {
        Content::Known(event) => Some(event),
        Content::Foreign | Content::Erased => None,
    }
}

/// Says that something else is recorded than what follows.
pub(super) fn other(recorded: &Recorded, expected: &str) -> Box<Divergence> {
    Divergence::at(recorded, expected, format!("`{}`", recorded.kind))
}

/// Where a ledger was begun before destinations were judged, takes the judgement of then for a command that asks for nothing else now.
fn as_before(state: &State, events: &[Event], left: &[Recorded]) -> Vec<Event> {
    let mut events = events.to_vec();
    for (wanted, found) in events.iter_mut().zip(left) {
        if let (Event::Classified(wanted), Some(Event::Classified(found))) = (wanted, event(found))
            && state.opened.surroundings.is_none()
            && wanted.rule == Ruling::UNKNOWN_DESTINATION
            && found.verdict == Verdict::Safe.as_str()
            && (wanted.step, wanted.round, wanted.digest) == (found.step, found.round, found.digest)
        {
            wanted.clone_from(found);
        }
    }
    events
}

fn batch(events: &[Event], left: &[Recorded]) -> Result<usize, Box<Divergence>> {
    let moment = left.first().map(|first| first.at);
    for (wanted, found) in events.iter().zip(left) {
        same(found, wanted)?;
        // They were stored together.
        if Some(found.at) != moment {
            let expected = moment.map(|moment| format!("the moment {moment}")).unwrap_or_default();
            return Err(Divergence::at(found, expected, found.at.to_string()));
        }
    }
    // The record may end anywhere.
    Ok(events.len().min(left.len()))
}

/// Compares two events; the policy's digest may be another as long as the judgement is the same.
fn same(recorded: &Recorded, expected: &Event) -> Result<(), Box<Divergence>> {
    let Some(found) = event(recorded) else { return Err(other(recorded, &format!("`{}`", kind(expected)))) };
    let expected = match (expected, found) {
        (Event::Classified(expected), Event::Classified(found)) => &Event::Classified(Classified {
            policy: found.policy,
            impact: found.impact.and(expected.impact),
            ..expected.clone()
        }),
        // What an earlier version did not record is not compared.
        (Event::ApprovalRequested(expected), Event::ApprovalRequested(found))
            if found.judgements.is_empty()
                || found
                    .forecast
                    .as_ref()
                    .is_none_or(|own| !own.is_confirmed_later || own.undo.is_none()) =>
        {
            let mut expected = expected.clone();
            if found.judgements.is_empty() {
                expected.judgements = Vec::new();
            }
            expected.forecast = expected.forecast.filter(|_| found.forecast.is_some()).map(|forecast| {
                let own = found.forecast.as_ref();
                let is_confirmed_later = own.is_some_and(|own| own.is_confirmed_later);
                let is_undone_later = own.is_some_and(|own| own.is_undone_later);
                let undo = forecast.undo.filter(|_| own.is_some_and(|own| own.undo.is_some()));
                ChangeForecast { undo, is_undone_later, is_confirmed_later, ..forecast }
            });
            &Event::ApprovalRequested(expected)
        }
        (Event::ForecastChecked(expected), Event::ForecastChecked(found)) if found.undo.is_none() => {
            &Event::ForecastChecked(ForecastChecked { undo: None, ..expected.clone() })
        }
        (expected, _) => expected,
    };
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (value(expected), value(found));
    if expected.get("kind") != found.get("kind") {
        let word = expected.get("kind").and_then(Value::as_str).unwrap_or_default();
        return Err(other(recorded, &format!("`{word}`")));
    }
    let body = |value: &Value| value.get("body").cloned().unwrap_or_default();
    Err(Divergence::between(recorded, &body(&expected), &body(&found)))
}

fn value(event: &Event) -> Value {
    serde_json::to_value(event).unwrap_or_default()
}

fn kind(event: &Event) -> String {
    value(event).get("kind").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn request(requested: &ApprovalRequested) -> Event {
    Event::ApprovalRequested(requested.clone())
}

/// A run is first intended, then it begins; a consent that cannot be used up any more has run out.
fn execute(
    state: &State,
    step: StepId,
    consumes: Option<&str>,
    intended: bool,
    first: &Recorded,
) -> Result<(), Box<Divergence>> {
    match event(first) {
        Some(Event::Executing(Executing { step: found, .. })) if intended && *found == step => Ok(()),
        Some(Event::Intent(found)) if !intended => {
            let digest = state.step(step).and_then(|step| step.round()).map(|round| round.classified.digest);
            let approval = consumes.map(str::to_owned);
            let wanted = Intent { step, digest: digest.unwrap_or(found.digest), approval };
            same(first, &Event::Intent(wanted))
        }
        _ if intended => Err(other(first, &format!("that {step} begins to run"))),
        _ => Err(other(first, &format!("the intent to run {step}"))),
    }
}

/// Of those that run side by side any may be the next.
fn together(state: &State, steps: &[StepId], first: &Recorded) -> Result<(), Box<Divergence>> {
    let next = match event(first) {
        Some(Event::Executing(found)) => found.step,
        Some(Event::Intent(found)) => found.step,
        _ => return Err(other(first, "that one of the reads of this call begins to run")),
    };
    let known = state.step(next).filter(|step| steps.contains(&step.id));
    let Some(step) = known else { return Err(other(first, "that one of the reads of this call begins")) };
    match &step.phase {
        Phase::Decided { approval, .. } => execute(state, next, Some(approval), false, first),
        Phase::Intended { .. } => execute(state, next, None, true, first),
        Phase::Judged => execute(state, next, None, false, first),
        Phase::Proposed
        | Phase::AwaitingApproval { .. }
        | Phase::Expired { .. }
        | Phase::Executing { .. }
        | Phase::Unknown
        | Phase::Done => execute(state, next, None, true, first),
    }
}

/// What is handed over is first intended, then somebody has it; how that ended follows by itself.
fn hand_over(
    state: &State,
    (step, consumes, key): (StepId, Option<&str>, &str),
    left: &[Recorded],
) -> Result<usize, Box<Divergence>> {
    let Some(first) = left.first() else { return Ok(0) };
    match event(first) {
        // The gate could not put it on record, and nobody has it.
        Some(Event::Done(done)) if done.step == step => return refused(state, done, first).map(|()| 1),
        _ => execute(state, step, consumes, false, first)?,
    }
    let taken = Event::Taken(Taken { step, key: key.to_owned() });
    left.get(1).map_or(Ok(1), |next| same(next, &taken).map(|()| 2))
}

/// The result of a file task comes from outside; how it is recorded does not.
fn done(
    source: &ReplayInputs<'_>,
    state: &State,
    call: &str,
    task: &FileTask,
    first: &Recorded,
) -> Result<(), Box<Divergence>> {
    let (Some(Event::Observed(found)), Some(call)) = (event(first), state.call_named(call)) else {
        return Err(other(first, "the result of a file task"));
    };
    let text = source.evidence.text(&found.digest.to_string());
    let bytes = text.map_or(found.bytes, |text| u64::try_from(text.len()).unwrap_or(u64::MAX));
    same(first, &Event::Observed(observed_file_task(state, call, task, found.digest, bytes)))
}

fn deliver(source: &ReplayInputs<'_>, state: &State, first: &Recorded) -> Result<(), Box<Divergence>> {
    let Some(Event::Delivered(found)) = event(first) else { return Err(other(first, "the report")) };
    let digest = match source.wording {
        Wording::Same => Digest::of(report::rca(state)),
        Wording::Free => found.digest,
    };
    let wanted = Delivered { what: Delivered::REPORT.to_owned(), place: found.place.clone(), digest };
    same(first, &Event::Delivered(wanted))
}
