//! The cloud on this machine, as `az` meets it.

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
