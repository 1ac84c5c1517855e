//! `ghost capture`: packet captures of the platform.
//!
//! Goes in: arguments, the configuration's storage. Comes out: files in the captures folder, a summary or one document. Never: a
//! change that nobody agreed to, a capture that is forgotten.

mod command;
mod orphans;
mod running;
mod start;
mod summary;
mod terminal;

pub(in crate::cli) use command::{Arguments, run};
pub(in crate::cli) use orphans::{LeftoverCapture, beside, left_behind};
pub(in crate::cli) use start::{WantedCapture, configured, hinted, planned, storage};
pub(in crate::cli) use summary::document;
pub(in crate::cli) use terminal::gate;
