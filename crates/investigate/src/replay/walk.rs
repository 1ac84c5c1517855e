//! The replay, from the first event to the last.

use crate::Outcome;
use crate::decision::{DecisionContext, Effect, next};
use crate::event::{Event, Recorded};
use crate::model::Investigator;
use crate::replay::Divergence;
use crate::replay::compare::{compare, event};
use crate::replay::input::accept;
use crate::state::State;
use crate::tool::{Evidence, Registry};
use ghost_base::SessionId;
use ghost_shell::Policy;

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
    source: &ReplayInputs<'_>,
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
    let (investigators, mut decided) = (investigators(recorded), 0_u64);
    while let Some(first) = left.first() {
        if first.at < before.at {
            return Err(Divergence::at(
                first,
                format!("a moment from {} on", before.at),
                first.at.to_string(),
            ));
        }
        let effect = |investigator: &Investigator| {
            let ReplayInputs { policy, tools, evidence, site, .. } = *source;
            next(&state, &DecisionContext { policy, tools, evidence, investigator, site }, first.at)
        };
        let count = match accept(&state, before, first, || effect(&state.opened.investigator)) {
            Some(fits) => fits.map(|()| 1)?,
            None => {
                let count = decide(source, &state, &investigators, effect, left)?;
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
    source: &ReplayInputs<'_>,
    state: &State,
    investigators: &[&Investigator],
    effect: impl Fn(&Investigator) -> Effect,
    left: &[Recorded],
) -> Result<usize, Box<Divergence>> {
    let (first, others) = investigators
        .split_first()
        .map_or((&state.opened.investigator, investigators), |(first, all)| (*first, all));
    let decision = effect(first);
    let found = compare(source, state, &decision, left);
    match (&found, &decision) {
        (Err(_), Effect::Ask { .. }) => {
            let other = others
                .iter()
                .find_map(|investigator| compare(source, state, &effect(investigator), left).ok());
            other.map_or(found, Ok)
        }
        _ => found,
    }
}

/// Returns who was asked, one for each size of window, the one that the session began with first.
fn investigators(recorded: &[Recorded]) -> Vec<&Investigator> {
    let mut investigators: Vec<&Investigator> = Vec::new();
    for found in recorded {
        let investigator = match event(found) {
            Some(Event::Opened(opened)) => &opened.investigator,
            Some(Event::ModelAnswered(answered)) => &answered.investigator,
            _ => continue,
        };
        if investigators.iter().all(|known| known.window != investigator.window)
            && investigators.len() < MOST_BRAINS
        {
            investigators.push(investigator);
        }
    }
    investigators
}

/// What deciding once more takes.
#[derive(Clone, Copy)]
pub struct ReplayInputs<'a> {
    /// By which commands are judged.
    pub policy: &'a Policy,
    /// What may be called.
    pub tools: &'a Registry,
    /// The texts behind observations.
    pub evidence: &'a dyn Evidence,
    /// What the operator added to the system prompt.
    pub site: Option<&'a str>,
    /// Whether words that only a model or a reader sees have to be the same.
    pub wording: Wording,
}

/// How the words of prompts and reports are compared; decisions are always compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// They are the same: this version wrote the record.
    Same,
    /// They may be others: another version wrote it, whose prompts and reports read differently.
    Free,
}
