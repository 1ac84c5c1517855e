//! The gate between any agent and a machine.

mod boundary;
mod clip;
mod mask;
mod permit;
mod profile;
mod redact;
mod verdict;

pub use clip::{Clipping, Kind, Limits, ModelText, clip};
pub use mask::Mask;
pub use permit::{Permit, Reviewer};
pub use profile::{Profile, Socket};
pub use redact::{Redacted, redact};
pub use verdict::{Ruling, Tier, Verdict};
