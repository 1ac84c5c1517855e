//! Ending an investigation that did not end by itself: stopped, spent, or stuck.

use crate::event::{Concluded, Event, HypothesisSet};
use crate::gate::{Covered, outcome};
use crate::state::State;
use crate::{HypothesisState, Outcome};

/// Returns the events that end a session with what there is.
#[must_use]
pub fn close(state: &State, by: &str, why: &str) -> Vec<Event> {
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
    let outcome = match outcome(state, state.accepted.len(), Covered::Partly) {
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
    }));
    events
}
