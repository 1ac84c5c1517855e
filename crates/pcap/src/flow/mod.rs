//! Connections as they are told of: states, figures, ranks.

mod group;
mod overview;
mod reset;
mod state;
mod told;
mod way;

pub(super) use group::{Cases, End, Hold, Pair, Service};
pub(super) use overview::Overview;
pub use overview::Vantage;
pub use reset::Cut;
pub(super) use reset::reasons;
pub use state::State;
pub(super) use state::state;
pub use told::{Figures, Told, Trouble};
pub(super) use told::{ms, percent, weight};
pub use way::{AckFigures, Lost, Repeated, Shares, Shut, Stuck, WayFacts};
