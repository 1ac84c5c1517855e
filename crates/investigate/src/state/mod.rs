//! The state of a session: a pure fold over its events.
//!
//! Goes in: recorded events, in order. Comes out: everything that anybody wants to know about the session. Never: a state
//! that does not follow from the events alone; an event of an unknown kind passed over as if it said nothing.

mod approval;
mod fold;
mod session;
mod step;

pub use approval::{Approval, Ending, Vote};
pub use fold::FoldError;
pub use session::{CallState, Entry, Observation, Spent, State, Turn};
pub use step::{Denial, Phase, Round, Step};
