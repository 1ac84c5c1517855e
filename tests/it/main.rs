//! The integration tests, in one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod redact;
