//! The cloud on this machine, as `az` meets it.

mod builtin;
mod call;
mod real_az;
mod blobs;
mod estate;
mod recorded;
mod stage;
mod raw;
mod served;
#[cfg(feature = "cli")]
mod process;
