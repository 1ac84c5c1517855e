//! What a play leaves: packets at both ends, and what the one who began has of it.

use crate::host::simulated::guest::Count;

/// A segment of TCP; numbers count from 0 at the SYN.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::host::simulated::wire) struct Segment {
    /// Its number.
    pub(in crate::host::simulated::wire) seq: u64,
    /// Its bytes.
    pub(in crate::host::simulated::wire) len: u32,
    /// What it acknowledges.
    pub(in crate::host::simulated::wire) ack: u64,
    pub(in crate::host::simulated::wire) flags: u8,
    /// What was received beyond a gap.
    pub(in crate::host::simulated::wire) sacked: Vec<(u64, u64)>,
    /// The largest segment that its sender takes; in a SYN.
    pub(in crate::host::simulated::wire) most: u16,
    /// Its sender's clock, and the one that it repeats; milliseconds.
    pub(in crate::host::simulated::wire) clocks: (u64, u64),
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) enum PacketKind {
    Tcp(Segment),
    /// A datagram.
    Udp(Vec<u8>),
    /// An echo, asked or answered.
    Echo {
        /// Whether it answers.
        answers: bool,
        id: u16,
        number: u16,
        /// Its bytes.
        size: u32,
    },
    /// An ICMP error about the packet that was seen at this place of the play.
    Error {
        /// Its code; its type is 3.
        code: u8,
        /// The largest packet, where that is what it tells.
        mtu: u16,
        /// The packet that it is about.
        about: usize,
    },
}

/// A packet, and when it passed the device of either end; nanoseconds since the play began.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct CapturedPacket {
    /// Whether the one who began sent it.
    pub(in crate::host::simulated::wire) near_sent: bool,
    /// When it passed the device of the one who began.
    pub(in crate::host::simulated::wire) near: Option<u64>,
    /// When it passed the device of the other.
    pub(in crate::host::simulated::wire) far: Option<u64>,
    /// Whether it is damaged.
    pub(in crate::host::simulated::wire) broken: bool,
    pub(in crate::host::simulated::wire) what: PacketKind,
}

/// What the one who began has of it; times are nanoseconds since the play began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::host::simulated::wire) struct Outcome {
    /// The connection came up.
    pub(in crate::host::simulated::wire) connected: Option<u64>,
    /// It was refused.
    pub(in crate::host::simulated::wire) refused: Option<u64>,
    /// The first byte of an answer came.
    pub(in crate::host::simulated::wire) first: Option<u64>,
    /// The last one came.
    pub(in crate::host::simulated::wire) done: Option<u64>,
    /// Patience ended.
    pub(in crate::host::simulated::wire) gave_up: Option<u64>,
}

/// A play that is over.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::host::simulated::wire) struct Transcript {
    /// Its packets, in no order of times.
    pub(in crate::host::simulated::wire) seen: Vec<CapturedPacket>,
    /// Its result.
    pub(in crate::host::simulated::wire) outcome: Outcome,
    /// What the devices of both ends counted, first of the one who began.
    pub(in crate::host::simulated::wire) counts: [Count; 2],
}
