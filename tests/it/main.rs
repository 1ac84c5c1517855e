//! The integration tests, in one binary.

#[cfg(feature = "shell")]
mod audit_crash;
