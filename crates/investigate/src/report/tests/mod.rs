//! Facts about what a session shows.

mod board;
mod changed;
mod hostile;
mod ledger;
mod markdown;
mod platform;
mod postmortem;
mod report;
mod rich;
mod timeline;

pub(crate) use ledger::{Ledger, unspell};
pub(crate) use rich::rich;
