//! Facts about what a session shows.

mod board;
mod changed;
mod hostile;
mod ledger;
mod markdown;
mod report;
mod rich;
mod timeline;

pub(crate) use ledger::{Ledger, unspell};
pub(in crate::report) use rich::rich;
