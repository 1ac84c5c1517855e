//! `ghost lab`: what Ghost, or any other program, runs against where there is nothing real.
//!
//! Goes in: arguments. Comes out: lines that export where things are, then `# ready`. Never: a listener for other machines.

mod az;
mod cases;
mod command;
mod eval;
mod found;
mod inject;
mod order;
mod place;
mod reach;
mod slack;
mod up;

pub(in crate::cli) use command::{Arguments, run};
pub(in crate::cli) use found::found;
pub(in crate::cli) use reach::{GROUPS, reach};
pub(in crate::cli) use slack::hinted;
