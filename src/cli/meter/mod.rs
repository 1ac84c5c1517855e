//! `ghost meter`: what measurements say, and measuring.
//!
//! Goes in: what tools print, samples; two machines. Comes out: figures, a verdict, documents in the data folder, a summary. Never: a
//! change that nobody agreed to.

mod command;
#[cfg(feature = "measure")]
mod desk;
mod figures;
#[cfg(feature = "measure")]
mod history;
#[cfg(feature = "measure")]
mod named;
#[cfg(feature = "measure")]
mod pipe;
#[cfg(feature = "measure")]
mod start;

pub(in crate::cli) use command::{Arguments, run};
