//! How often Slack may be asked, and who goes first.
//!
//! Goes in: calls that want their turn, and refusals. Comes out: who may go now, and when to look again. Never: a call that is
//! dropped, save a board that a newer one of the same message replaces; a lower priority that uses up what a higher one needs.

mod call_queue;
mod queue;

pub use call_queue::{CallQueue, QueuedCall, Turn};
pub use queue::{CallRequest, Pace, Priority, Rule, Ticket};
