//! What to do next: a pure function of the state, the policy and the present moment.
//!
//! Goes in: the state of a session. Comes out: one [`Effect`]. Never: an effect that the events do not justify; two effects
//! at once, but for reads that need nothing of each other; a second run of something that may have changed the world.
//!
//! Whoever drives a session performs the effect, records what came of it and asks again. That loop can be cut off at any
//! event: the next owner folds what was recorded and gets the same answer.

mod call;
pub(crate) mod command;
mod confirm;
mod effect;
mod forecast;
mod next;

pub use call::observed_file_task;
pub use effect::{DecisionContext, Effect, approval_name};
pub use next::{fruitless, next};
