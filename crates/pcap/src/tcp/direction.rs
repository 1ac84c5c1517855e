//! State of each direction beyond the labels; only streams that carry data have it.

use super::in_flight::BytesInFlight;
use super::loss::Losses;
use super::repetition::LargeSegments;
use super::segment::{ACK, FIN, RST, SYN, Segment};
use super::sender::{SenderState, before};
use super::wait::{WaitTimes, ZeroWindowPeriods};
use crate::label::{Label, Labels};

/// Both directions, and when the last packet was seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct DirectionStates {
    /// In the order of the by_sender.
    pub(crate) by_sender: [DirectionState; 2],
    at: u64,
}

/// One direction, named after its sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct DirectionState {
    /// What is in transit.
    pub(crate) flight: BytesInFlight,
    /// What it waits for.
    pub(crate) limits: WaitTimes,
    /// When its sender took nothing.
    pub(crate) closed: ZeroWindowPeriods,
    /// What was lost where.
    pub(crate) losses: Losses,
    /// Repetitions and probes since the last packet of the other end.
    pub(crate) unanswered: u32,
    /// The frame of the first of them.
    pub(crate) unanswered_frame: u64,
    /// The highest number that its sender acknowledged.
    acked: Option<u32>,
    /// The largest segment.
    pub(crate) largest: u32,
    /// Segments that are too large for the path.
    pub(crate) large: LargeSegments,
}

/// A segment, and what is known after the sequence analysis had it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentContext<'a> {
    pub(super) segment: &'a Segment<'a>,
    pub(super) len: u32,
    pub(super) labels: Labels,
    /// The highest end that its sender had reached before.
    pub(super) high: u32,
    /// It was overtaken, as its identification says.
    pub(super) late: Option<bool>,
    pub(super) sack: &'a [u8],
    pub(super) now: u64,
    pub(super) frame: u64,
}

impl SegmentContext<'_> {
    /// Returns where the segment begins and by_sender.
    pub(super) fn span(&self) -> (u32, u32) {
        let seq = self.segment.seq;
        (seq, seq.wrapping_add(self.len).wrapping_add(u32::from(self.segment.any(SYN | FIN))))
    }
}

/// What a step brought.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AckTiming {
    /// How long the acknowledgment in it took.
    pub(super) ack_time: Option<u64>,
    /// When the segment was sent first.
    pub(super) first: Option<u64>,
}

impl DirectionStates {
    /// Begins with a segment.
    pub(super) fn new(now: u64) -> Box<Self> {
        Box::new(Self { at: now, ..Self::default() })
    }

    /// Takes a segment; the sides are those after it.
    pub(super) fn take(
        &mut self,
        sides: &[SenderState; 2],
        flipped: bool,
        context: &SegmentContext<'_>,
    ) -> AckTiming {
        let passed = context.now.saturating_sub(self.at);
        self.at = context.now;
        let (own, peer) = pair(sides, flipped);
        let [first, second] = &mut self.by_sender;
        let (own_state, peer_state) = if flipped { (second, first) } else { (first, second) };
        own_state.limits.pass(passed, context.labels.has(Label::Retransmission));
        peer_state.limits.pass(passed, false);
        let first = own_state.send(own, peer, context);
        own_state.probe(peer_state, peer, context);
        peer_state.unanswered = 0;
        let ack_time = peer_state.answer(peer, context);
        let segment = context.segment;
        if segment.any(RST) {
            own_state.closed.announce(true, context.now, context.frame);
            peer_state.closed.announce(true, context.now, context.frame);
        } else if segment.any(ACK) && !segment.any(SYN | FIN) {
            own_state.closed.announce(segment.win > 0, context.now, context.frame);
        }
        own_state.limits.settle(own, peer, own_state.largest);
        peer_state.limits.settle(peer, own, peer_state.largest);
        AckTiming { ack_time, first }
    }
}

/// Returns the sender's of two things, and the other's.
pub(super) fn pair<T>([first, second]: &[T; 2], flipped: bool) -> (&T, &T) {
    if flipped { (second, first) } else { (first, second) }
}

impl DirectionState {
    fn send(&mut self, own: &SenderState, peer: &SenderState, context: &SegmentContext<'_>) -> Option<u64> {
        let (seq, end) = context.span();
        if seq == end {
            return None;
        }
        self.largest = self.largest.max(context.len);
        let labels = context.labels;
        if labels.has(Label::LostSegment) {
            self.losses.gap(context.high, seq, peer.last_ack);
            self.limits.lost(own);
        } else if labels.has(Label::Retransmission) || labels.has(Label::OutOfOrder) {
            let late = context.late.unwrap_or_else(|| labels.has(Label::OutOfOrder));
            if self.losses.behind((seq, end), labels.has(Label::SpuriousRetransmission), late) {
                self.limits.lost(own);
            }
        }
        if labels.has(Label::Retransmission) {
            self.large.again(context.len, u32::from(self.flight.passed), context.frame);
        }
        let behind = context.high != 0 && before(seq, context.high);
        let peer_seen = peer.packets > 0 && !context.segment.memory_limited;
        self.flight.send((seq, end), behind, context.now, peer_seen)
    }

    /// Counts what asks for an answer, and whether it asks for room.
    fn probe(&mut self, peer_state: &mut Self, peer: &SenderState, context: &SegmentContext<'_>) {
        // A sender acknowledges no less than before: what does was overtaken, and asks for nothing. Behind a FIN it resembles a
        // keep-alive.
        let segment = context.segment;
        if segment.any(ACK) {
            if self.acked.is_some_and(|acked| before(segment.ack, acked)) {
                return;
            }
            self.acked = Some(segment.ack);
        }
        let labels = context.labels;
        let one_byte = labels.has(Label::ZeroWindowProbe);
        let asks = one_byte || labels.has(Label::KeepAlive);
        // Some ask for room without a byte, one number back: the look of a keep-alive, into a closed window.
        if one_byte || (asks && peer.win == 0) {
            peer_state.closed.probes = peer_state.closed.probes.saturating_add(1);
        }
        if asks || labels.has(Label::Retransmission) {
            if self.unanswered == 0 {
                self.unanswered_frame = context.frame;
            }
            self.unanswered = self.unanswered.saturating_add(1);
        }
    }

    /// Takes what the other end acknowledges of this direction.
    fn answer(&mut self, own: &SenderState, context: &SegmentContext<'_>) -> Option<u64> {
        let ack = context.segment.ack;
        if context.segment.any(ACK) {
            self.losses.acknowledge(ack, own.next);
            if context.segment.len == Some(0) || !context.sack.is_empty() {
                self.losses.sack(context.sack, ack);
            }
        }
        let ack_time = self.flight.acknowledge(ack, context.now);
        self.large.hear(u32::from(self.flight.passed));
        ack_time
    }
}
