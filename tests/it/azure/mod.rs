//! The cloud on this machine, as `az` meets it.

mod builtin;
mod call;
mod blobs;
mod agree;
mod change;
mod estate;
mod real_az;
mod recorded;
mod stage;
mod raw;
mod served;
#[cfg(feature = "cli")]
mod process;
mod storage;
mod survive;
