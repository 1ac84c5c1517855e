//! The gate between any agent and a machine.

mod permit;
mod profile;
mod redact;
mod verdict;

pub use permit::{Permit, Reviewer};
pub use profile::{Profile, Socket};
pub use redact::{Redacted, redact};
pub use verdict::{Ruling, Tier, Verdict};
