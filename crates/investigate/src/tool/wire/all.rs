//! The list of the tools that record and measure.

use super::{cancel_task, capture_traffic, check_task, cleanup_task, run_pipe_meter};
use crate::tool::{Site, Tool};

/// Returns the tools, at a place.
pub(in crate::tool) fn tools(site: &Site) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(capture_traffic::CaptureTraffic::new(site.clone())),
        Box::new(check_task::CheckTask::new(site.clone())),
        Box::new(cancel_task::CancelTask::new(site.clone())),
        Box::new(cleanup_task::CleanupTask::new(site.clone())),
        Box::new(run_pipe_meter::RunPipeMeter::new(site.clone())),
    ]
}
