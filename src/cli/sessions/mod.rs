//! `ghost sessions`: what sessions there are, what happened in them, and moving or deleting one.

mod command;
mod list;
mod search;
mod show;
mod transfer;
mod usage;

pub(super) use command::{Arguments, run};
pub(in crate::cli) use command::{missing, store_of};
pub(in crate::cli) use list::summary;
pub(in crate::cli) use show::{ReportKind, report};
pub(super) use transfer::read_export;
