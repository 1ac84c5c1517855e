//! DNS: messages, streams of them over TCP, and which question got which answer.

mod client;
mod message;
mod name_score;
mod parent;
mod stats;
mod stream;
#[cfg(test)]
mod tests;

pub(super) use client::FailedNames;
pub(super) use client::{Client, GeneratedName};
pub(super) use message::{Message, kind};
pub(super) use parent::{MIN_LONG_LABEL, ParentDomain};
pub(super) use stats::{DnsStats, MessageContext};
pub(super) use stream::Stream;
