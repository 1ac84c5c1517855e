//! The investigation: typed events, their fold, what to do next, and the ports to whoever thinks.
//!
//! Goes in: events that were recorded, and the present moment. Comes out: the state, the next effect, reports. Never: a
//! finding that no recorded observation bears out, a step that runs twice, text of the network taken for an order.

pub mod brief;
pub mod complaint;
mod consent;
pub mod conversation;
pub mod coverage;
pub mod event;
mod fence;
pub mod finding;
pub mod gate;
mod hypothesis;
pub mod judged;
mod known;
mod limits;
pub mod model;
mod outcome;
pub mod playbook;
pub mod prompt;
pub mod recheck;
pub mod replay;
pub mod report;
pub mod state;
pub mod step;
pub mod suspect;
pub mod tool;

pub use consent::{RequesterMay, SelfApproval, may_approve, may_approve_modified};
pub use fence::Fence;
pub use hypothesis::{Hypothesis, HypothesisState};
pub use known::{confined, found, hold, is_found, known_at, known_of, may_be_found, ruling_of};
pub use limits::Limits;
pub use outcome::{Confidence, Outcome};
