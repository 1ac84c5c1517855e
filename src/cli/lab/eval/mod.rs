//! `ghost lab eval`: whole investigations of cases whose causes are known, and how good they are.
//!
//! Goes in: cases, somebody who thinks, somebody who consents. Comes out: a line a case, a scoreboard. Never: a real cloud. A lab
//! in this process answers every command, and its clock goes forward instead of a wait; where an `az` is named, that one runs, and the
//! same lab answers it on a port.
//!
//! `chosen` finds the cases; `world` is a lab with a case in it and the engine on top; `consent` answers questions, `served` is the lab on a port, for a real
//! `az`; `pace` measures what is no command; `run` is one investigation; `counts` counts what its ledger says; `row` is its line; `board` is the scoreboard.

mod board;
mod changes;
mod chosen;
mod command;
mod consent;
mod counts;
mod pace;
mod row;
mod run;
mod served;
#[cfg(test)]
mod tests;
mod world;

pub(in crate::cli) use command::{Arguments, run};
