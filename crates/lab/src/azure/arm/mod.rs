//! The resource manager: from a path and a verb to a document.

mod act;
mod answer;
mod change;
mod compute;
mod graph;
mod shape;
mod storage;
mod subscription;

pub(super) use answer::{answer, missing};
pub(super) use compute::runs;
pub(super) use shape::{default_rules, guid};
pub(super) use storage::keys;
pub(super) use subscription::service_tags;
