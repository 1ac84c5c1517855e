//! What an investigation comes to.

use crate::agent::state::State;
use crate::agent::{HypothesisState, Outcome};

/// Computes the outcome from what holds. `findings` is how many claims do.
///
/// A symptom without a finding is INCONCLUSIVE: that nothing was found says nothing until everything was looked at.
#[must_use]
pub fn outcome(state: &State, findings: usize) -> Outcome {
    if findings == 0 {
        return Outcome::Inconclusive;
    }
    let any = |wanted| state.hypotheses.iter().any(|hypothesis| hypothesis.state == wanted);
    let doubtful = any(HypothesisState::Contradicted)
        || any(HypothesisState::Unverifiable)
        || any(HypothesisState::Active)
        || !any(HypothesisState::Confirmed)
        || state.unknown_steps().any(|step| !step.is_completed());
    if doubtful { Outcome::Likely } else { Outcome::Confirmed }
}
