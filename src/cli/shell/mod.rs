//! `ghost shell`: the gate, from the command line.

mod classify;
mod command;
mod corpora;
mod demo;
mod import;
mod policy;
mod redact;
mod run;

pub(in crate::cli) use classify::Classified;
pub(in crate::cli) use command::{Arguments, run};
