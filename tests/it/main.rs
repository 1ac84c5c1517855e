//! The integration tests, in one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[cfg(feature = "shell")]
mod audit_crash;
#[cfg(feature = "shell")]
mod redact;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "cli")]
mod terminal;
mod tidy;
