//! Commands answered by a lab in this process: the safety shell runs as ever, and nothing is started.
//!
//! Goes in: what the shell permits, a lab. Comes out: what `az`, `ssh` and the probes of this machine would print. Never: a process,
//! a connection, a wait (the lab's clock goes forward instead), a file outside the captures folder.
//!
//! `line` tells what a command is (pure); `cloud` is the path from the built-in `az` to the lab; `guest` is ssh; `local` is a machine
//! without a network of its own; `process` puts them together; `memory_lab` makes a lab for it.

mod cloud;
mod guest;
mod line;
mod local;
mod memory_lab;
mod process;
#[cfg(test)]
mod tests;

pub use memory_lab::{
    CAPTURES_ACCOUNT, CAPTURES_CONTAINER, MemoryLabError, START, memory_lab, memory_lab_now,
};
pub use process::InProcess;
