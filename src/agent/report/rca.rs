//! Placeholder.

use crate::agent::state::State;

/// Placeholder.
pub fn rca(state: &State) -> String {
    format!("{:?}", state.concluded)
}
