//! The figure in a tool's own text.
//!
//! Goes in: the whole text of one run. Comes out: microseconds, or gigabits a second. Never: a number from a line that is only half
//! readable, from a run in which a connection failed, or from another tool.

mod iperf;
mod qperf;
mod tool;

pub use tool::{MAX_OUTPUT_BYTES, ParseError, Tool, parse};
