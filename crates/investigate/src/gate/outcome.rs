//! What an investigation comes to.

use crate::state::State;
use crate::{HypothesisState, Outcome};

/// How much of what belongs to the symptom was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered {
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
pub fn outcome(state: &State, findings: usize, covered: Covered) -> Outcome {
    let any = |wanted| state.hypotheses.iter().any(|hypothesis| hypothesis.state == wanted);
    let open = any(HypothesisState::Contradicted)
        || any(HypothesisState::Unverifiable)
        || any(HypothesisState::Active)
        || state.unknown_steps().any(|step| !step.is_completed());
    match (findings, covered) {
        (0, Covered::Whole) if !open && !any(HypothesisState::Confirmed) => Outcome::NoFaultFound,
        (0, Covered::Whole | Covered::Partly | Covered::Nothing) => Outcome::Inconclusive,
        (_, Covered::Whole | Covered::Nothing) if !open && any(HypothesisState::Confirmed) => {
            Outcome::Confirmed
        }
        (_, Covered::Whole | Covered::Partly | Covered::Nothing) => Outcome::Likely,
    }
}
