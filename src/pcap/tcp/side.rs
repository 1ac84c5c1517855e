//! What is known of one direction of a connection.

use crate::pcap::label::Labels;

/// No more unacknowledged segments than this are remembered by the reference.
const MOST_STORED: u32 = 10_000;

/// The window scale of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Its SYN was not seen.
    Unknown,
    /// It is not used.
    Unused,
    /// By so many bits.
    By(u8),
}

/// One direction, named after its sender. A number of 0 stands for "not known", as in the reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// The initial sequence number.
    pub(crate) isn: Option<u32>,
    /// The highest end seen.
    pub(crate) next: u32,
    /// When that was.
    pub(crate) next_time: u64,
    /// The highest end without a gap before it.
    pub(crate) contig: u32,
    /// The acknowledgment number of its last packet.
    pub(crate) last_ack: u32,
    /// When that was.
    pub(crate) last_time: u64,
    /// The window of its last packet, unscaled; beyond 16 bits before the first.
    pub(crate) win: u32,
    /// Its window scale.
    pub(crate) scale: Scale,
    /// It has sent a SYN, and no acknowledgment since.
    pub(crate) awaiting: bool,
    /// How often it repeated its acknowledgment.
    pub(crate) dups: u32,
    /// What its last packet was.
    pub(crate) last: Labels,
    /// An upper bound of what is stored and not acknowledged.
    stored: u32,
    stored_since: u32,
    mark: u32,
    /// A segment whose acknowledgment is waited for: its end and when it was sent.
    pub(crate) timed: Option<(u32, u64)>,
    /// Packets that it sent.
    pub(crate) packets: u64,
    /// Bytes that it sent, without headers.
    pub(crate) bytes: u64,
    /// How many of its packets were sent again.
    pub(crate) again: u32,
    /// Packets that carried data, SYN or FIN.
    pub(crate) carrying: u32,
    /// The flags of all its packets together.
    pub(crate) flags: u8,
    /// The largest segment that it takes, as it said.
    pub(crate) mss: u16,
    /// The time to live that its packets had so far, resets left out; 0 for not known.
    pub(crate) hops: u8,
}

impl Default for Side {
    fn default() -> Self {
        Self {
            isn: None,
            next: 0,
            next_time: 0,
            contig: 0,
            last_ack: 0,
            last_time: 0,
            win: u32::MAX,
            scale: Scale::Unknown,
            awaiting: false,
            dups: 0,
            last: Labels::default(),
            stored: 0,
            stored_since: 0,
            mark: 0,
            timed: None,
            packets: 0,
            bytes: 0,
            again: 0,
            carrying: 0,
            flags: 0,
            mss: 0,
            hops: 0,
        }
    }
}

impl Side {
    /// Notes a segment that has to be acknowledged; says whether there was room.
    pub(super) fn store(&mut self) -> bool {
        if self.stored >= MOST_STORED {
            return false;
        }
        self.stored += 1;
        self.stored_since += 1;
        true
    }

    /// Forgets what an acknowledgment of the other side covers.
    ///
    /// Two generations are counted rather than every segment: what is left is at most what was sent since the older mark.
    pub(super) fn acknowledged(&mut self, ack: u32) {
        if self.stored > 0 && !after(self.mark, ack) {
            self.stored = self.stored_since;
            self.stored_since = 0;
            self.mark = self.next;
        }
    }
}

/// Says whether a sequence number lies behind another one. Half the circle away is behind as well as before.
pub(super) fn after(left: u32, right: u32) -> bool {
    before(right, left)
}

/// Says whether a sequence number is another one or lies before it.
pub(super) fn at_most(left: u32, right: u32) -> bool {
    left == right || before(left, right)
}

/// Says whether a sequence number lies before another one.
pub(super) fn before(left: u32, right: u32) -> bool {
    (left.wrapping_sub(right) as i32) < 0
}
