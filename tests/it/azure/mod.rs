//! The cloud on this machine, as `az` meets it.

mod agree;
mod blobs;
mod change;
mod estate;
mod recorded;
mod storage;
mod survive;
