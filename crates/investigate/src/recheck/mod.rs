//! "Fixed, check again": the calls whose record bore out the findings run once more, and what failed is tried from where it failed, where
//! a command that only reads can do that; nothing else, and no model is asked.
//!
//! Goes in: the state of a session whose report was delivered. Comes out: which calls run again, and each fault before and now.
//! Never: a call that showed no fault; a fault that is called fixed because nobody could look.

mod attempt;
mod compare;
mod next;
mod plan;
mod summary;
#[cfg(test)]
mod tests;

pub use crate::event::RECHECK_PROVIDER;
pub use compare::{Verdict, verdict};
pub(crate) use next::next;
pub use plan::{Refused, possible};
pub use summary::{headline, report};
