//! The tools that record packets and measure: each a whole life in one call, under one consent.
//!
//! Goes in: the arguments of a call, the place from the configuration, what came of the call's commands so far. Comes out: the next
//! command, or the result. Never: a storage account that a model named, a capture that is begun twice, a task called done while
//! anything of it is left in the cloud.
//!
//! A capture is no state of its own: [`ghost_cloud::capture::CaptureTask`] is made again from what was recorded, by the call that began it and by
//! the later calls that cancel it or clean up behind it, in order.

mod all;
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

pub(super) use all::tools;
pub use history::running_tasks;
