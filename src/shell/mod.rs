//! The gate between any agent and a machine.

mod permit;
mod profile;
mod verdict;

pub use permit::{Permit, Reviewer};
pub use profile::{Profile, Socket};
pub use verdict::{Ruling, Tier, Verdict};
