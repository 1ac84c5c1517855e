//! Two captures: of two times, or of the two ends of a way.

mod change;
mod join;
mod pair;
mod print;

pub use change::{Change, Trend};
pub use join::{Direction, Packets};
pub use pair::{Pair, Side, compare};
