//! Connections as they are told of: states, figures, ranks.

mod overview;
mod state;
mod told;

pub(super) use overview::Overview;
pub use state::State;
pub use told::{Figures, Told, Trouble};
pub(super) use told::{ms, percent};
