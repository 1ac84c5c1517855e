//! What is counted: one table of names, one method for each.

mod measures;
mod table;
mod word;

pub use measures::Measures;
pub use table::{Described, Kind, TABLE};
pub use word::{AlertOutcome, Answer, Arrived, Direction, Judged, Outcome, SessionState, SocketState, Whose};
