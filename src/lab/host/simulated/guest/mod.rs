//! A machine from inside: what it does with packets, and what scripts find and change.

mod machine;

pub(in crate::lab::host) use machine::{Fate, Guest, Process, Shaping};
