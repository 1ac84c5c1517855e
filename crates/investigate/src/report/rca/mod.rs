//! The report on a root cause, as Markdown.

mod cause;
mod checked;
mod close;
mod flows;
mod proof;
mod whole;

pub(super) use cause::hypotheses;
pub(super) use checked::{approvals, ending};
pub(super) use close::budget;
pub(super) use whole::investigator;
pub use whole::{evidence, rca, steps};
