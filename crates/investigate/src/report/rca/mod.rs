//! The report on a root cause, as Markdown.

mod cause;
mod checked;
mod close;
mod flows;
mod proof;
mod road;
mod whole;

pub(super) use cause::{hypotheses, reasons};
pub(super) use checked::{approvals, asked, ending};
pub(super) use close::{LABELS, budget, capital};
pub(super) use proof::source;
pub(super) use whole::investigator;
pub use whole::{evidence, rca, steps};
