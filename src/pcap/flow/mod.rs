//! Connections as they are told of: states, figures, ranks.

mod overview;
mod state;
mod told;

pub(super) use overview::Overview;
pub use state::State;
pub(super) use told::percent;
pub use told::{Figures, Told, Trouble};
