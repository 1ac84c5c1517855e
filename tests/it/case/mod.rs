//! Cases: what the files say, what is planned, what is injected, and that all of it goes again.
#![expect(
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a field that an answer lacks stops the test"
)]

mod file;
mod hostile;
mod inject;
mod order;
mod plan;
mod real_az;
mod seen;
mod stage;
