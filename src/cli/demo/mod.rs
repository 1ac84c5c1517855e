//! `ghost demo`: a local Slack, a cloud on this machine with something wrong in it, and the bot that finds out.
//!
//! Goes in: nothing but the name of a case. Comes out: the address of a page, and a bot that answers there until Ctrl-C. Never: a
//! command that runs on this machine, a connection beyond it, an answer that was written before.
//!
//! `case` is what can be picked, `fault` what can be added to it; `cloud` is the cloud with what was picked, and takes the page's
//! orders; `score` compares what was found with what is there; `brisk` is how one waits; `command` puts it all together.

mod brisk;
mod case;
mod cloud;
mod command;
mod fault;
mod score;

pub(super) use brisk::ShortSleep;
pub(super) use case::case_name;
pub(super) use command::{Arguments, run};
