//! `ghost lab`: what Ghost, or any other program, runs against where there is nothing real.
//!
//! Goes in: arguments. Comes out: lines that export where things are, then `# ready`. Never: a listener for other machines.

mod az;
mod cases;
mod command;
#[cfg(feature = "session")]
mod eval;
#[cfg(feature = "session")]
mod found;
mod inject;
mod order;
mod place;
#[cfg(feature = "session")]
mod reach;
mod slack;
mod up;

pub(in crate::cli) use command::{Arguments, run};
#[cfg(feature = "session")]
pub(in crate::cli) use found::found;
#[cfg(feature = "bot")]
pub(in crate::cli) use reach::{GROUPS, reach};
#[cfg(feature = "bot")]
pub(in crate::cli) use slack::hinted;
