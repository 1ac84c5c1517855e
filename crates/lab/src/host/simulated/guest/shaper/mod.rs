//! Queueing disciplines, classes and filters of a machine's devices.

mod change;
mod discipline;
mod filter;
mod print;
mod shape;
mod unit;

pub(in crate::host::simulated) use change::Shaper;
pub(in crate::host::simulated) use print::Form;
