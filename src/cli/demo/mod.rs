//! `ghost demo`: a local Slack, the bot in it, and a case that is told from recordings.
//!
//! Goes in: nothing. Comes out: the address of a page, and a bot that answers there until Ctrl-C. Never: a command that runs, a
//! connection beyond this machine, a claim that a recording was made just now.

mod case;
mod command;

pub(super) use command::{Arguments, run};
