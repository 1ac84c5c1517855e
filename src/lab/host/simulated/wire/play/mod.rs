//! Conversations, packet by packet, over a way that is known.
//!
//! One play is what programs measure and what captures show: both follow from the same packets.

mod datagram;
mod endpoint;
mod link;
mod seen;
mod tcp;
#[cfg(test)]
mod tests;

pub(super) use datagram::{Echo, echo, exchange};
pub(super) use link::Link;
pub(super) use seen::{Outcome, Played, Seen, Segment, What};
pub(super) use tcp::{Script, Turn, converse};
