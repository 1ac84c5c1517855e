//! What a command prints: asked, then written.

mod json;
mod query;
mod table;
mod tsv;

pub(super) use json::json;
pub(super) use query::{Answered, Query};
pub(super) use table::table;
pub(super) use tsv::tsv;
