//! `ghost host`: what is odd about the network of this machine, or of others.
//!
//! Goes in: machines that are read now, here or by ssh, or what was gathered before; what has to be reached. Comes out: what is odd,
//! worst first, each with its proof and what to do; what changed since it worked; what was not read. Never: a change of anything, a
//! model, "there is none" for what was not read.

mod command;
mod gather;
mod reach;
mod report;
mod show;
mod snapshot;
#[cfg(test)]
mod tests;
mod watch;

pub use command::{Arguments, run};
pub use reach::SshArguments;

/// So many machines are read in one session.
pub const MAX_HOSTS: usize = 64;

/// Below the data folder, where `ghost host --keep` and sessions keep a machine's state under its name.
pub const HOSTS: &str = "hosts";
