//! `ghost shell bench`: public corpora, judged by the policy and by what others publish.
//!
//! Goes in: folders of commands in four formats, a file of Codex's rules, a list of first words. Comes out: a table of counts.
//! Never: a command that runs.

mod atomic;
mod board;
mod command;
mod corpus;
mod execpolicy;
mod gtfobins;
mod lines;
mod selection;
mod star;
mod tldr;
mod yaml;

pub(super) use command::{Arguments, run};
pub(super) use execpolicy::{Decision, Rules};
