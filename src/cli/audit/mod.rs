//! `ghost audit`: is a session's audit file whole, and what does it tell?
//!
//! Goes in: the path of a file that a session wrote. Comes out: an answer on stdout. Never: a change to the file, or a
//! byte of a command that a terminal would obey.

mod command;
mod journal;
#[cfg(test)]
mod tests;
mod text;

pub(in crate::cli) use command::{Arguments, run, verified};
