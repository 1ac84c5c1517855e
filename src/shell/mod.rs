//! The gate between any agent and a machine.

pub mod audit;
mod judge;
mod permit;
mod policy;
mod profile;
mod text;
mod verdict;

pub use judge::LONGEST_COMMAND;
pub use permit::{Permit, Reviewer};
pub use policy::{Example, Policy, PolicyError};
pub use profile::{Profile, Socket};
pub use verdict::{Ruling, Tier, Verdict};
