//! `ghost config`: is the configuration right, does everything answer that it names, and what does this machine offer?
//!
//! Goes in: the configuration. Comes out: one finding for each part, all of them at once. Never: a secret in a finding; a
//! change to anything; a question without a time limit.

mod alerts;
mod approval;
mod cloud;
mod clusters;
mod command;
mod export;
mod finding;
mod machine;
mod measuring;
mod model;
mod permission;
mod site;
mod slack;
mod store;
mod telemetry;

pub(super) use command::{Arguments, Part, PartFinding, check_part, checked, run};
