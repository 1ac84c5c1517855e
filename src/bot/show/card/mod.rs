//! The card of a question to humans: while it is open, and after.

mod closed;
mod diff;
mod open;
mod outcome;
mod subject;
mod target;
mod whole;

pub(super) use open::tier;
pub(super) use whole::asked;
pub use whole::{asked_text, card, command_file};
