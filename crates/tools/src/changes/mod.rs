//! `ghost changes`: what was changed in a resource group, when and by whom.
//!
//! Goes in: an activity log, read now or from a file. Comes out: its changes, and which of them made what is at fault. Never: a change
//! of anything, a caller that is blamed for nearness in time alone.

mod command;
mod show;

pub use command::{Arguments, run};
