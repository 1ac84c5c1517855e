//! The gate between any agent and a machine.

mod exec;
mod permit;
mod process;
mod profile;
mod resolve;
mod sandbox;
mod verdict;

pub use permit::{Permit, Reviewer};
pub use process::{Cancel, CancelSignal, ExecError, Limits, Output, ProcessBound, Setting};
pub use profile::{Profile, Socket};
pub use resolve::{ProgramError, Programs};
pub use sandbox::{Confinement, Support, support, sweep};
pub use verdict::{Ruling, Tier, Verdict};
