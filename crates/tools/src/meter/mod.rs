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

pub use command::{Arguments, run};
pub use start::WantedMeasurement;
