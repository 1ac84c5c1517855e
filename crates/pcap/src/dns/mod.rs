//! DNS: messages, streams of them over TCP, and which question got which answer.

mod client;
mod failure;
mod look;
mod message;
mod parent;
mod stream;
mod tally;
#[cfg(test)]
mod tests;

pub(super) use client::{Client, Odd};
pub(super) use failure::Failure;
pub(super) use message::{Message, kind};
pub(super) use parent::{LONG, Parent};
pub(super) use stream::Stream;
pub(super) use tally::{At, Tally};
