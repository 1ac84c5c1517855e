//! The report as a thread shows it: Markdown in messages, a file, a line for the channel.

mod cut;
mod split;
mod whole;

pub use ghost_investigate::report::headline;
pub use whole::{Report, report};
