//! Scripts for a machine, run without a shell.
//!
//! Goes in: the text of a script, its arguments, somebody who knows the machine's programs. Comes out: what a POSIX shell would have
//! printed. Never: a process, a file of this machine, a guess: what is not understood is a syntax error and exit code 2.
//!
//! Not known: arrays, `((…))`, process substitution, `select`, `getopts`, traps that act, job control, `awk`. `sed`
//! knows `s`, `p`, `d`, `q` and `=`. A pipe's parts run one after the other. A script ends with `Killed` after 100,000 commands, 32 MB or
//! 90 minutes of the lab's clock.

mod arithmetic;
mod file;
mod interpreter;
mod parse;
mod pattern;
mod run;
#[cfg(test)]
mod tests;
mod tool;
mod tree;

pub(in crate::host) use file::Files;
pub(in crate::host) use interpreter::Interpreter;
pub(in crate::host) use interpreter::{Calls, ProgramResult};
pub(in crate::host) use run::duration;
