//! Facts about what a session tells.

mod board;
mod hostile;
mod ledger;
mod markdown;
mod report;
mod rich;
mod story;
mod view;

pub(crate) use ledger::{Ledger, unspell};
pub(in crate::report) use rich::rich;
