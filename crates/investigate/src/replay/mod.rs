//! A recorded session decided once more: the same state must lead to the same step at every event.
//!
//! Goes in: the events of a session, the texts behind its observations, the policy and the tools. Comes out: that the record
//! is what this program would have done, or the first event that is not. Never: a model, a shell, a clock; an event that is
//! taken for granted although the ones before it decide it.
//!
//! What came from outside is taken from the record: words of people, votes, turns of the model, ends of commands. It is only
//! accepted where it can come, and each decision behind it follows from it, so that a change shows where it first matters.

mod compare;
mod divergence;
mod input;
mod walk;

pub use divergence::Divergence;
pub use walk::{ReplayInputs, Replayed, Wording, replay};
