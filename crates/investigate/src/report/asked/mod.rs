//! Questions behind an answer.
//!
//! Goes in: the record of a session, and words. Comes out: an answer of at most six lines, and the look that would tell more. Never: work.

mod advice;
mod answer;
mod question;
#[cfg(test)]
pub(super) mod tests;
mod wanted;
mod what_if;

pub(super) use answer::machines;
pub use answer::{FollowUp, REMARK, Recorded, UNANSWERED, follow_up, without_ids};
