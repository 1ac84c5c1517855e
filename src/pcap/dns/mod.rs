//! DNS: messages, streams of them over TCP, and which question got which answer.

mod message;
mod stream;
mod tally;
#[cfg(test)]
mod tests;

pub(super) use message::Message;
pub(super) use stream::Stream;
pub(super) use tally::{At, Tally};
