//! `ghost lab`: what Ghost, or any other program, runs against where there is nothing real.
//!
//! Goes in: arguments. Comes out: lines that export where things are, then `# ready`. Never: a listener for other machines.

mod az;
mod cases;
mod command;
mod eval;
mod inject;
mod net;
mod order;
mod place;
mod session;
mod slack;
mod up;

pub(in crate::cli) use command::{Arguments, run};
use net::{Ending, Question, evaluate};
pub(in crate::cli) use session::{GROUPS, clusters, found, reach};
pub(in crate::cli) use slack::hinted;
