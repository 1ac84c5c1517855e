//! `ghost export`: what a session leaves behind, for those who come after.

mod command;
mod postmortem;

pub(in crate::cli) use command::{Arguments, run};
