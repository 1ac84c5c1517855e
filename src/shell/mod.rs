//! The gate between any agent and a machine.

pub mod audit;
mod permit;
mod profile;
mod verdict;

pub use permit::{Permit, Reviewer};
pub use profile::{Profile, Socket};
pub use verdict::{Ruling, Tier, Verdict};
