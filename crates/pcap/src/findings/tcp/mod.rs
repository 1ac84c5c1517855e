//! Connections: what opens, breaks, stalls or repeats.

mod carry;
mod cut;
mod find;
mod hold;
mod open;
mod seen;

pub(super) use find::{RULES, find};
