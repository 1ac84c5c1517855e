//! Consent: what a human is shown, and what their answer may be.
//!
//! Goes in: a request with the whole command. Comes out: approve, deny, modify or expired, and who said so. Never: an
//! approval from an approver that failed, panicked, stayed silent or answered something else than what it was asked.

mod plan;
mod port;
#[cfg(feature = "terminal")]
mod terminal;

pub use plan::{Grant, PlannedCommand};
pub use port::{Approver, Choice, Decision, DenyAll, Request};
#[cfg(feature = "terminal")]
pub use terminal::TerminalApprover;
