//! Connections: what opens, breaks, stalls or repeats.

mod capture_quality;
mod find;
mod open;
mod stall;
mod transfer;

pub(super) use find::{RULES, find};
