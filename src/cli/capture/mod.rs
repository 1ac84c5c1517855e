//! `ghost capture`: packet captures of the platform.
//!
//! Goes in: arguments, the configuration's storage. Comes out: files in the captures folder, a summary or one document. Never: a
//! change that nobody agreed to, a capture that is forgotten.

mod command;
mod desk;
mod orphans;
mod start;
mod told;
mod under_way;

pub(in crate::cli) use command::{Arguments, run};
pub(in crate::cli) use orphans::Left;
pub(in crate::cli) use orphans::{beside, left_behind};
pub(in crate::cli) use start::configured;
