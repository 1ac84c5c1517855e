//! The shell itself: classify, approve, run, redact, clip, audit, in this order and no other.
//!
//! Goes in: a command and the reasoning behind it. Comes out: a structured [`Response`]. Never: a command that was not
//! judged, a RISKY one without a human's consent to exactly that text, a run whose intent is not on the disk, output
//! that was not redacted.

mod admit;
mod builder;
mod execute;
mod expand;
mod finish;
mod judge;
mod machine;
mod plan;
mod record;
mod redirect;
#[cfg(test)]
mod redirect_tests;
mod resolve_names;
mod response;
mod run;
#[cfg(test)]
mod tests;

pub use admit::{Admission, Admitted};
pub use builder::{BuildError, Builder};
pub use judge::Sandbox;
pub use response::{Action, OutputMetadata, Problem, Response, Status};
pub use run::Shell;
