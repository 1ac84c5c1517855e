//! Network Watcher: what it says of a packet that nobody sent.
//!
//! Its answers follow from the same effective routes and rules that the platform shows; they are worked out here anew, in the plainest
//! path, so that whoever compares them with the inspectors' compares two readings.

pub(super) mod capture;
mod connect;
mod file;
mod flow;
mod flow_log;
mod hop;
mod post;
mod topology;

pub use file::{CaptureDestination, CaptureTrouble, RunningCapture};
pub use flow_log::LoggedFlow;
pub(super) use post::{PostResult, post};
