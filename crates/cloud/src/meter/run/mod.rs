//! A run: two machines measured against each other, as an errand that asks once.
//!
//! Goes in: two machines, how they are reached, what is to be measured. Comes out: one command after the other, then documents, a
//! summary, a picture. Never: a change that the one consent did not show, a server that outlives the run by more than its time, a
//! sample that nobody took.
//!
//! Validate, preflight (rules, tools, stale servers), measure, compute, compare, upload. `fold` says what is next and takes what came
//! of it; only `store` and `drive` touch the world.

mod ask;
mod baseline;
#[cfg(feature = "plot")]
mod chart;
mod document;
mod drive;
mod end;
mod fold;
mod guest;
mod heard;
mod look;
mod rules;
mod sample;
mod step;
mod store;
mod summary;
#[cfg(test)]
mod tests;

pub use ask::{Ask, AskError, Compare, Seconds, Way};
pub use baseline::{Baseline, BaselineError, Comparison};
#[cfg(feature = "plot")]
pub use chart::chart;
#[cfg(feature = "plot")]
pub use chart::{draw, panel};
pub use drive::{Desk, carry_out};
pub use end::End;
pub use fold::{Run, State};
pub use guest::{CONTROL, DATA, THROUGHPUT};
pub use sample::{Judged, Outcome, Series, judge};
pub use store::{Past, Store, StoreError};
pub use summary::summary;
