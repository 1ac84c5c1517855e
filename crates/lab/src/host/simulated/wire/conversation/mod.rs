//! Conversations, packet by packet, over a path that is known.
//!
//! One play is what programs measure and what captures show: both follow from the same packets.

mod datagram;
mod endpoint;
mod link;
mod receive;
mod seen;
mod tcp;
#[cfg(test)]
mod tests;

pub(super) use datagram::{Echo, echo, exchange};
pub(super) use seen::{CapturedPacket, PacketKind, Segment, Transcript};
pub(super) use tcp::converse;
pub(super) use tcp::{Script, Turn};
