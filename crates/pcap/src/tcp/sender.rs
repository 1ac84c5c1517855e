//! State of the sender of one direction.

use super::reset::MIN_ID_STEPS;
use super::segment::{FIN, SYN, Segment};
use crate::label::Labels;

/// No more unacknowledged segments than this are remembered by the reference.
const MAX_UNACKED_SEGMENTS: u32 = 10_000;

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
pub(crate) struct SenderState {
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
    /// How many of its packets were there twice, byte for byte.
    pub(crate) copies: u32,
    /// The identification of its last packet.
    pub(crate) id: u16,
    /// How many in a row counted up.
    pub(crate) steps: u8,
    /// Identifications differ from packet to packet.
    pub(crate) counts: bool,
    /// The VLAN of its first packet; 0 for none.
    pub(crate) vlan: u16,
    /// When its SYN was sent that nobody acknowledged; 0 for never.
    pub(crate) syn_sent_at: u64,
    /// The time to live that its packets had so far, resets left out; 0 for not known.
    pub(crate) hops: u8,
}

impl Default for SenderState {
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
            copies: 0,
            id: 0,
            steps: 0,
            counts: false,
            vlan: 0,
            syn_sent_at: 0,
            hops: 0,
        }
    }
}

impl SenderState {
    /// Notes a segment that has to be acknowledged; says whether there was room.
    pub(super) fn store(&mut self) -> bool {
        if self.stored >= MAX_UNACKED_SEGMENTS {
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

/// How far identifications of one sender are apart from packet to packet, at most, where it counts.
const MAX_ID_STRIDE: u16 = 256;
/// A copy follows within this time where the identification tells packets apart.
const MAX_COPY_DELAY: u64 = 1_000_000;
/// And within this where nothing does.
const MAX_COPY_DELAY_WITHOUT_ID: u64 = 100_000;

impl SenderState {
    /// Tells whether a segment is the one again that had the same bytes so long ago, rather than a repetition with the same bytes.
    ///
    /// An identification that moves on is another one in a repetition. Without one, acknowledgments of equal bytes are common:
    /// they count as copies only where data was doubled before.
    pub(super) fn copied(&self, segment: &Segment<'_>, ago: u64) -> bool {
        let identified = self.counts && segment.id.is_some_and(|id| id != 0);
        let carries = segment.len.is_some_and(|len| len > 0) || segment.any(SYN | FIN);
        (identified && ago <= MAX_COPY_DELAY)
            || (ago <= MAX_COPY_DELAY_WITHOUT_ID && (carries || self.copies > 0))
    }

    /// Counts a packet; returns both VLANs where this is another one than the first packet's.
    pub(super) fn count_packet(&mut self, segment: &Segment<'_>) -> Option<(u16, u16)> {
        self.packets += 1;
        self.flags |= segment.flags;
        if self.packets == 1 {
            self.vlan = segment.vlan;
        }
        (self.vlan != segment.vlan).then_some((self.vlan, segment.vlan))
    }

    /// Takes an acknowledgment; returns how long that of the SYN took, where this is the one.
    pub(super) fn syn_acknowledged(&mut self, ack: u32, now: u64) -> Option<u64> {
        let first = self.isn?.wrapping_add(1);
        if self.syn_sent_at == 0 || !at_most(first, ack) {
            return None;
        }
        let sent = std::mem::take(&mut self.syn_sent_at);
        if first == ack { now.checked_sub(sent) } else { None }
    }

    /// Tells whether a segment was sent before the last one, as far as identifications tell.
    pub(super) fn was_overtaken(&self, segment: &Segment<'_>) -> Option<bool> {
        let id = segment.id.filter(|id| *id != 0 && self.steps >= MIN_ID_STEPS)?;
        Some((id.wrapping_sub(self.id) as i16) < 0)
    }

    /// Follows identifications.
    pub(super) fn track_id(&mut self, id: u16) {
        let step = id.wrapping_sub(self.id);
        self.counts |= self.packets > 1 && step != 0;
        if (1..=MAX_ID_STRIDE).contains(&step) {
            self.steps = self.steps.saturating_add(1);
            self.id = id;
        } else if step < MAX_ID_STRIDE.wrapping_neg() {
            // Not merely late.
            self.steps = if step == 0 { self.steps } else { 0 };
            self.id = id;
        }
    }
}

/// Tells whether a sequence number lies behind another one. Half the circle away is behind as well as before.
pub(super) fn after(left: u32, right: u32) -> bool {
    before(right, left)
}

/// Tells whether a sequence number is another one or lies before it.
pub(super) fn at_most(left: u32, right: u32) -> bool {
    left == right || before(left, right)
}

/// Tells whether a sequence number lies before another one.
pub(super) fn before(left: u32, right: u32) -> bool {
    (left.wrapping_sub(right) as i32) < 0
}
