//! The cloud on this machine, as `az` meets it.
#![expect(
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a field that an answer lacks stops the test"
)]

mod agree;
mod blobs;
mod builtin;
mod call;
mod change;
mod estate;
#[cfg(feature = "cli")]
mod process;
mod raw;
mod real_az;
mod recorded;
mod served;
mod stage;
mod storage;
mod survive;
