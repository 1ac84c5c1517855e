//! The answer: what is wrong, where, and what to do, in one sentence and at most eight lines.
//!
//! Goes in: the state of a session. Comes out: plain data, which whoever draws it escapes. The channel, the terminal and the first lines of
//! the report show the same answer. Never: a digest, an id of ours, the name of an observation.

mod cause;
mod kept_out;
mod lines;
#[cfg(test)]
mod tests;
mod whole;

pub(super) use cause::{carried, causes, decider, ends};
pub use lines::subject as hypothesis_subject;
pub(super) use lines::{confidence, fate, left_behind, unchecked};
pub(super) use whole::is_playbook;
pub use whole::{Answer, AnswerLine, answer, headline};
