//! The integration tests, in one binary.
<<<<<<< HEAD

#[cfg(feature = "shell")]
mod audit_crash;
=======
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod redact;
>>>>>>> redact
