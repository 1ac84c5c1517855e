//! The resource manager: from a path and a verb to a document.

mod answer;
mod change;
mod compute;
mod shape;
mod subscription;

pub(super) use answer::{answer, missing};
pub(super) use shape::guid;
