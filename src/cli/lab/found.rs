//! What an investigation found, as pairs that are scored.

use ghost_investigate::state::State;
use ghost_lab::case::Pair;

/// Returns what an investigation found.
pub(in crate::cli) fn found(state: &State) -> Vec<Pair> {
    let mut found: Vec<Pair> = state
        .accepted
        .iter()
        .map(|accepted| Pair::new(&accepted.finding.code, accepted.finding.object.clone()))
        .collect();
    found.sort();
    found.dedup();
    found
}
