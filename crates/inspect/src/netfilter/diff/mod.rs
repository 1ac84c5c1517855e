//! What differs between two rulesets, and what that does to traffic.
//!
//! Goes in: two rulesets. Comes out: as few changes as describe it, each with a severity that comes from judging the packets it
//! could concern by both. Never: "not critical" where the packets could not all be judged and a verdict is touched.

mod change;
mod compare;
mod content;
mod impact;
pub(super) mod key;
mod noise;
mod order;
#[cfg(test)]
mod tests;
mod weight;

pub use change::{Change, Diff, DiffError, Kind, Severity, Status};
pub use compare::diff;

pub(super) use impact::{Impact, RulePlace, hooks};
pub(super) use order::common;
pub(super) use weight::{decides, weigh};
