//! The cloud on this machine, as `az` meets it.

mod agree;
mod blobs;
mod estate;
mod recorded;
