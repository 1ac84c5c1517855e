//! `ghost sessions`: what sessions there are, what happened in them, and moving or deleting one.

mod command;
mod list;
mod search;
mod show;
mod transfer;
mod usage;

pub use command::{Arguments, run};
pub use command::{missing, store_of};
pub use list::summary;
pub use show::{ReportKind, report};
pub use transfer::read_export;
