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
mod core_list;
mod estate;
mod flow_logs;
mod identity;
mod native;
pub(crate) mod preloaded;
pub(crate) mod process;
mod raw;
pub(crate) mod real_az;
mod recorded;
mod recording;
mod sdk;
mod served;
mod stage;
mod storage;
mod subscriptions;
mod survive;
