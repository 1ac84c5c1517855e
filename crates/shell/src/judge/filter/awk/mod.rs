//! `awk`: programs that pick, count and print.
//!
//! Goes in: the words of one command. Comes out: nothing, or why they ask. Never: a program that writes a file, starts a
//! command, reads anything but its input, or goes on for ever. The subset is one that POSIX awk, gawk, mawk, `BusyBox` and the
//! original awk read alike; a text that they could read differently asks.

mod program;
#[cfg(test)]
mod tests;

pub(in crate::judge) use program::check;
