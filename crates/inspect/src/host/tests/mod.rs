//! Facts about machines.

mod facts;
mod walked;
mod withheld;

pub(super) use facts::{flow, gathered, read};
