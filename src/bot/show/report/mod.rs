//! The report as a thread shows it: the answer, its files, what its buttons show, a line for the channel.

mod cut;
mod split;
mod whole;

pub use ghost_investigate::report::headline;
pub use whole::{Report, evidence, report, stands, steps};
