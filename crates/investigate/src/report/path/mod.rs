//! The way between the machines in question, with what is wrong on it and what was ruled out.
//!
//! Goes in: the state. Comes out: stops from the caller to the called one, and a picture of them. Never: a stop that the topology did
//! not tell of; clean for what nobody looked at.

mod ends;
mod picture;
mod stop;
#[cfg(test)]
mod tests;

pub use picture::{picture, told};
pub use stop::{Known, Stop, stops};
