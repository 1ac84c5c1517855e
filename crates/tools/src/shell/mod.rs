//! `ghost shell`: the gate, from the command line.

mod classify;
mod command;
mod corpora;
mod demo;
mod import;
mod policy;
mod redact;
mod run;

pub use classify::Classified;
pub use command::{Arguments, run};
