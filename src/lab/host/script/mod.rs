//! Scripts for a machine, run without a shell.
//!
//! Goes in: the text of a script, its arguments, somebody who knows the machine's programs. Comes out: what a POSIX shell would have
//! printed. Never: a process, a file of this machine, a guess: what is not understood is a syntax error and exit code 2.

mod arithmetic;
mod call;
mod file;
mod interpreter;
mod parse;
mod pattern;
mod run;
#[cfg(test)]
mod tests;
mod tool;
mod tree;

pub(in crate::lab::host) use call::{Called, Calls};
pub(in crate::lab::host) use file::Files;
pub(in crate::lab::host) use interpreter::Interpreter;
pub(in crate::lab::host) use run::duration;
