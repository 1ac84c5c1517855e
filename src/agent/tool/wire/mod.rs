//! The tools that record packets and measure: each a whole life in one call, under one consent.
//!
//! Goes in: the arguments of a call, the place from the configuration, what came of the call's commands so far. Comes out: the next
//! command, or the result. Never: a storage account that a model named, a capture that is begun twice, a task called done while
//! anything of it is left in the cloud.
//!
//! A capture is no state of its own: [`crate::capture::Task`] is made again from what was recorded, by the call that began it and by
//! the later calls that cancel it or clean up behind it, in order.

mod cancel_task;
mod capture_traffic;
mod check_task;
mod cleanup_task;
mod figures;
mod history;
mod order;
mod purpose;
mod run_pipe_meter;
mod told;
mod walk;

#[cfg(test)]
mod tests;

use crate::agent::tool::{Site, Tool};

pub use history::running_tasks;

/// Returns the tools, at a place.
pub(super) fn tools(site: &Site) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(capture_traffic::CaptureTraffic::new(site.clone())),
        Box::new(check_task::CheckTask::new(site.clone())),
        Box::new(cancel_task::CancelTask::new(site.clone())),
        Box::new(cleanup_task::CleanupTask::new(site.clone())),
        Box::new(run_pipe_meter::RunPipeMeter::new(site.clone())),
    ]
}
