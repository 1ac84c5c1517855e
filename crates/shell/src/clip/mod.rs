//! Cuts redacted text down to what a model may read.
//!
//! Goes in: a [`Redacted`](crate::Redacted) text and [`Limits`]. Comes out: [`ModelText`], never longer than
//! what went in, with true numbers about what was left out. Never: text that was not redacted before, a cut inside a
//! character, JSON that stops being JSON, a marker where nothing is missing.
//!
//! A machine that reads on must read the whole text, not this one: the markers are for readers.

mod document;
mod kind;
mod lines;
mod model_text;
#[cfg(test)]
mod tests;

pub use kind::Kind;
pub use model_text::{Clipping, Limits, ModelText, clip};
