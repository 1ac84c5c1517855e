//! `ghost meter`: what measurements say, and measuring.
//!
//! Goes in: what tools print, samples; two machines. Comes out: figures, a verdict, documents in the data folder, a summary. Never: a
//! change that nobody agreed to.

mod command;
mod figures;
mod history;
mod named;
mod pipe;
mod start;
mod terminal;

pub(in crate::cli) use command::{Arguments, run};
pub(in crate::cli) use start::WantedMeasurement;
