//! The tools that record packets and measure: each runs from beginning to result in one call, under one consent; what a capture leaves in
//! the cloud is removed behind the report.
//!
//! Goes in: the arguments of a call, the site from the configuration, the results of the call's commands so far. Comes out: the next
//! command, or the result. Never: a storage account that a model named, a capture that is begun twice, a task called done while
//! anything of it is left in the cloud.
//!
//! A capture is no state of its own: [`ghost_cloud::capture::CaptureTask`] is made again from what was recorded, by the call that began it and by
//! the later calls that cancel it or clean up behind it, in order.

mod argument;
mod capture;
mod capture_traffic;
mod figures;
mod host_capture;
mod result;
mod run_pipe_meter;
mod task;

#[cfg(test)]
mod tests;

pub use capture::running_tasks;
pub(super) use capture_traffic::CaptureTraffic;
pub(crate) use result::AFTER_REPORT;
pub(super) use run_pipe_meter::RunPipeMeter;
pub(super) use task::{CancelTask, CheckTask, CleanupTask};
