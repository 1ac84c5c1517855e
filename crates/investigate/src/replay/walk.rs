//! From the first event to the last.

use crate::Outcome;
use crate::decision::{DecisionContext, Effect, next};
use crate::event::{Event, Recorded};
use crate::model::Brain;
use crate::replay::compare::{compare, event};
use crate::replay::input::accept;
use crate::replay::{Divergence, Source};
use crate::state::State;
use ghost_base::SessionId;

/// A session is answered by a few models at most.
const MOST_BRAINS: usize = 8;

/// What a record that holds came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// How many events there are.
    pub events: u64,
    /// How many of them followed from those before; the others came from outside.
    pub decided: u64,
    /// The word for where it stands.
    pub standing: &'static str,
    /// What came of it.
    pub outcome: Option<Outcome>,
}

/// Decides a recorded session once more. It may end anywhere: a session that pauses replays as far as it got.
///
/// # Errors
/// Fails at the first event that is not what follows from the ones before it.
pub fn replay(
    session: &SessionId,
    recorded: &[Recorded],
    source: &Source<'_>,
) -> Result<Replayed, Box<Divergence>> {
    let Some((mut before, mut left)) = recorded.split_first() else {
        return Err(Box::new(Divergence {
            seq: 1,
            kind: String::new(),
            expected: "`opened`".to_owned(),
            recorded: "nothing".to_owned(),
        }));
    };
    let wrong = |event: &Recorded, error: &dyn std::fmt::Display| {
        Divergence::at(event, "an event that can be understood", error.to_string())
    };
    let mut state =
        State::fold(session, std::slice::from_ref(before)).map_err(|error| wrong(before, &error))?;
    let (brains, mut decided) = (brains(recorded), 0_u64);
    while let Some(first) = left.first() {
        if first.at < before.at {
            return Err(Divergence::at(
                first,
                format!("a moment from {} on", before.at),
                first.at.to_string(),
            ));
        }
        let effect = |brain: &Brain| {
            let Source { policy, tools, evidence, site, .. } = *source;
            next(&state, &DecisionContext { policy, tools, evidence, brain, site }, first.at)
        };
        let count = match accept(&state, before, first, || effect(&state.opened.brain)) {
            Some(fits) => fits.map(|()| 1)?,
            None => {
                let count = decide(source, &state, &brains, effect, left)?;
                decided += u64::try_from(count).unwrap_or(u64::MAX);
                count
            }
        };
        let Some((taken, rest)) = left.split_at_checked(count.max(1)) else { break };
        for event in taken {
            state.apply(event).map_err(|error| wrong(event, &error))?;
        }
        (before, left) = (taken.last().unwrap_or(before), rest);
    }
    let outcome = state.concluded.as_ref().map(|(_, concluded)| concluded.outcome);
    Ok(Replayed { events: state.seq, decided, standing: state.standing(), outcome })
}

/// Compares the decision with what is recorded. Where a model is asked, who is asked decides how much fits its window; with
/// a fallback that is not always the one that the session began with.
fn decide(
    source: &Source<'_>,
    state: &State,
    brains: &[&Brain],
    effect: impl Fn(&Brain) -> Effect,
    left: &[Recorded],
) -> Result<usize, Box<Divergence>> {
    let (first, others) =
        brains.split_first().map_or((&state.opened.brain, brains), |(first, all)| (*first, all));
    let decision = effect(first);
    let found = compare(source, state, &decision, left);
    match (&found, &decision) {
        (Err(_), Effect::Ask { .. }) => {
            let other = others.iter().find_map(|brain| compare(source, state, &effect(brain), left).ok());
            other.map_or(found, Ok)
        }
        _ => found,
    }
}

/// Returns who was asked, one for each size of window, the one that the session began with first.
fn brains(recorded: &[Recorded]) -> Vec<&Brain> {
    let mut brains: Vec<&Brain> = Vec::new();
    for found in recorded {
        let brain = match event(found) {
            Some(Event::Opened(opened)) => &opened.brain,
            Some(Event::Answered(answered)) => &answered.brain,
            _ => continue,
        };
        if brains.iter().all(|known| known.window != brain.window) && brains.len() < MOST_BRAINS {
            brains.push(brain);
        }
    }
    brains
}
