//! Cases: what the files say, what is planned, what is injected, and that all of it goes again.
#![expect(
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a field that an answer lacks stops the test"
)]

mod door;
mod file;
mod ground;
mod hostile;
mod inject;
mod plan;
mod real_az;
mod seen;
