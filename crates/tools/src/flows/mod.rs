//! `ghost flows`: what flow logs show of a flow.
//!
//! Goes in: blobs of a flow log, as files, and a flow. Comes out: whether it was seen, let through or denied, by which rule and when.
//! Never: a denial that no line shows.

mod command;
mod packed;
mod show;

pub use command::{Arguments, run};
