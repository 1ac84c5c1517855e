//! `ghost lab eval`: whole investigations of cases whose causes are known, and how good they are.
//!
//! Goes in: cases, somebody who thinks, somebody who consents. Comes out: a line a case, a scoreboard. Never: a process, a real cloud,
//! a wait: a lab in this process answers every command, and its clock goes forward instead.
//!
//! `chosen` finds the cases; `world` is a lab with a case in it and the engine on top; `consent` answers questions, `passing` is how one waits; `run` is one
//! investigation; `tally` counts what its ledger says; `row` is its line; `board` is the scoreboard.

mod board;
mod chosen;
mod command;
mod consent;
mod passing;
mod row;
mod run;
mod tally;
#[cfg(test)]
mod tests;
mod world;

pub(in crate::cli) use command::{Arguments, run};
