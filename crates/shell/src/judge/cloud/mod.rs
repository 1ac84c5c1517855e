//! The `az` command line: the command path from the left, then the options.
//!
//! Goes in: the words of one command and the tables of `cloud.toml` and `core.toml`. Comes out: that it only reads, why it
//! asks, or why it never runs. Never: SAFE for a path or an option that no table names in full.

mod address;
mod flow_log;
mod forbid;
mod guest;
mod line;
mod nameless;
mod read;
mod rest;
#[cfg(test)]
mod tests;

pub(super) use address::destinations;
pub(super) use forbid::forbidden;
pub(super) use guest::scripts;
pub(super) use line::is_az;
pub(super) use read::judge;
