//! The system prompt: how to investigate, drawn together from sections for the tools that there are.
//!
//! Goes in: a [`Setting`]. Comes out: Markdown, the same bytes for the same setting. Never: a tool that is not there, a
//! rule that the code does not hold, words of the network.

mod draw;
mod fill;

mod section;

#[cfg(test)]
mod tests;

pub use draw::{Setting, system};
pub use section::GATES;
