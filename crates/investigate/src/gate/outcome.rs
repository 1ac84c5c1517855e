//! The outcome of an investigation, and the end of one that did not end by itself: stopped, spent, or stuck.

use crate::event::{Concluded, Event, HypothesisSet};
use crate::gate::left_as_it_was;
use crate::platform_answer::is_contradicted;
use crate::state::State;
use crate::{HypothesisState, Outcome};

/// How much of what belongs to the symptom was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    Whole,
    /// Something was left out, or nobody can tell.
    Partly,
    /// Nobody speaks of trouble with a network, so that there is nothing to look at.
    Nothing,
}

/// Computes the outcome from what holds. `findings` is how many claims do.
///
/// A symptom without a finding is INCONCLUSIVE: that nothing was found says nothing until everything was looked at.
#[must_use]
pub fn outcome(state: &State, findings: usize, covered: Coverage) -> Outcome {
    let any = |wanted| state.hypotheses.iter().any(|hypothesis| hypothesis.state == wanted);
    let open = any(HypothesisState::Contradicted)
        || any(HypothesisState::Unverifiable)
        || any(HypothesisState::Active)
        || state.unknown_steps().any(|step| !step.is_completed())
        // Azure answers for one interface and one moment: it decides nothing, and leaves the outcome open where it says otherwise.
        || is_contradicted(state);
    match (findings, covered) {
        (0, Coverage::Whole) if !open && !any(HypothesisState::Confirmed) => Outcome::NoFaultFound,
        (0, Coverage::Whole | Coverage::Partly | Coverage::Nothing) => Outcome::Inconclusive,
        (_, Coverage::Whole | Coverage::Nothing) if !open && any(HypothesisState::Confirmed) => {
            Outcome::Confirmed
        }
        (_, Coverage::Whole | Coverage::Partly | Coverage::Nothing) => Outcome::Likely,
    }
}

/// Returns the events that end a session with what there is. Behind a report that is the report: it stays as it was.
#[must_use]
pub fn close(state: &State, by: &str, why: &str) -> Vec<Event> {
    if let Some(left) = left_as_it_was(state, by, why) {
        return vec![Event::Concluded(left)];
    }
    let mut events: Vec<Event> = state
        .active()
        .map(|hypothesis| {
            Event::HypothesisSet(HypothesisSet {
                id: hypothesis.id.clone(),
                description: None,
                state: HypothesisState::Unverifiable,
                by: "code".to_owned(),
                why: Some(why.to_owned()),
            })
        })
        .collect();
    let mut open: Vec<String> =
        state.active().map(|hypothesis| format!("{}: {}", hypothesis.id, hypothesis.description)).collect();
    open.extend(
        state.unknown_steps().map(|step| format!("did this command take effect? {}", step.current())),
    );
    // What was not tested to its end is at best likely.
    let outcome = match outcome(state, state.accepted.len(), Coverage::Partly) {
        Outcome::Confirmed if !open.is_empty() => Outcome::Likely,
        outcome @ (Outcome::Confirmed | Outcome::Likely | Outcome::Inconclusive | Outcome::NoFaultFound) => {
            outcome
        }
    };
    events.push(Event::Concluded(Concluded {
        outcome,
        confidence: outcome.confidence(),
        claimed: None,
        summary: format!("The investigation ended before it came to a result: {why}."),
        actions: Vec::new(),
        open_questions: open,
        waived: Vec::new(),
        by: by.to_owned(),
        recheck: Vec::new(),
        complaints: Vec::new(),
        stands: None,
        replaced: Vec::new(),
    }));
    events
}
