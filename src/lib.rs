//! Ghost investigates cloud network incidents behind a deterministic safety shell.
//!
//! Every room of the house is a module behind its own feature, usable alone:
//!
//! - [`shell`]: the gate between any agent and a machine.
//! - [`store`]: sessions, approvals and leases that outlive a process.

pub mod base;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod config;
#[cfg(feature = "shell")]
pub mod shell;
#[cfg(feature = "store")]
pub mod store;
