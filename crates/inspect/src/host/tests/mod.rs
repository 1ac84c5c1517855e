//! Facts about machines.

mod facts;
mod withheld;

pub(super) use facts::{flow, gathered, read};
