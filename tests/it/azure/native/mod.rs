//! The native reader: against the real `az` and the recordings, through faults, and what it leaves behind.

mod fault;
mod memory;
pub(super) mod place;
mod same;
mod secret;
mod services;
mod turn;
