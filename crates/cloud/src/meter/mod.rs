//! The pipe meter: how long a packet takes between two machines, how much they carry, and what a series of runs says.
//!
//! Goes in: what `qperf` and `iperf` (version 2) print, or the samples of runs. Comes out: one figure a text, one verdict a series.
//! Never: a figure out of a text that tells none, a verdict over a metric that nobody measured, a model.
//!
//! `parse` reads a tool's own text; `compute` judges samples. Both are pure. `run` (feature `measure`) measures: an operation that asks
//! once.

mod compute;
mod parse;
pub mod run;

pub use compute::{Anomaly, Computed, Extent, SampleError, Samples, TestType, compute};
pub use parse::{MAX_OUTPUT_BYTES, ParseError, Tool, parse};
