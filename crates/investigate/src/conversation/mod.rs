//! The conversation for a model: the session as messages, short enough for its window.
//!
//! Goes in: the state. Comes out: the same question for the same state. Never: text of the outside without its fence; a
//! call without its result; an observation that can no longer be named.

mod build;
mod compact;
#[cfg(test)]
mod tests;

pub(crate) use build::{CLOUD_BESIDE, CLOUD_TOO, CLUSTERS, FROM_THREAD, HOSTS, OF_PROGRAM};
pub use build::{build, messages};
