//! `az network watcher …`: what the platform sees of a flow, and captures.

pub(super) mod capture;
pub(super) mod probe;
