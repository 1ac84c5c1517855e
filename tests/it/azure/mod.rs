//! The cloud on this machine, as `az` meets it.

mod blobs;
mod estate;
mod recorded;
