//! A run: two machines measured against each other, as an operation with one approval.
//!
//! Goes in: two machines, how they are reached, what is to be measured. Comes out: one command after the other, then documents, a
//! summary, a picture. Never: a change that the one consent did not show, a server that outlives the run by more than its time, a
//! sample that nobody took.
//!
//! Validate, preflight (rules, tools, stale servers), measure, compute, compare, upload. `progress` and `result` decide the next command
//! ; only `store` and `drive` have effects.

mod baseline;
#[cfg(feature = "plot")]
mod chart;
mod document;
mod drive;
mod endpoint;
mod guest;
mod preflight;
mod progress;
mod request;
mod result;
mod sample;
mod step;
mod store;
mod summary;
#[cfg(test)]
mod tests;

pub use baseline::{Baseline, BaselineError, Comparison};
#[cfg(feature = "plot")]
pub use chart::chart;
#[cfg(feature = "plot")]
pub use chart::{draw, panel};
pub use drive::{MeasurementContext, carry_out};
pub use endpoint::Endpoint;
pub use guest::{IPERF_PORT, QPERF_DATA_PORT, QPERF_PORT};
pub use progress::{Run, State};
pub use request::{AccessMethod, Compare, MeasurementRequest, MeasurementRequestError, TestSeconds};
pub use sample::{Assessment, Outcome, Series, judge};
pub use store::{PastRun, Store, StoreError};
pub use summary::summary;
