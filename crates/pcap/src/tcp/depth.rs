//! What is told of a connection beyond its labels. Only connections that carry something have this.

use super::closed::Closed;
use super::flight::Flight;
use super::large::Large;
use super::limit::Limits;
use super::loss::Losses;
use super::segment::{ACK, FIN, RST, SYN, Segment};
use super::side::{Side, before};
use crate::label::{Label, Labels};

/// Both directions, and when something was last heard.
#[derive(Debug, Clone, Default)]
pub(crate) struct Depth {
    /// In the order of the ends.
    pub(crate) ways: [Way; 2],
    at: u64,
}

/// One direction, named after its sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct Way {
    /// What is on its way.
    pub(crate) flight: Flight,
    /// What it waits for.
    pub(crate) limits: Limits,
    /// When its sender took nothing.
    pub(crate) closed: Closed,
    /// What was lost where.
    pub(crate) losses: Losses,
    /// Repetitions and probes since the other end was heard.
    pub(crate) unanswered: u32,
    /// The frame of the first of them.
    pub(crate) unanswered_frame: u64,
    /// The highest number that its sender acknowledged.
    acked: Option<u32>,
    /// The largest segment.
    pub(crate) largest: u32,
    /// Segments that are too large for the path.
    pub(crate) large: Large,
}

/// A segment, and what is known after the sequence analysis had it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
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

impl Step<'_> {
    /// Returns where the segment begins and ends.
    pub(super) fn span(&self) -> (u32, u32) {
        let seq = self.segment.seq;
        (seq, seq.wrapping_add(self.len).wrapping_add(u32::from(self.segment.any(SYN | FIN))))
    }
}

/// What a step brought.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Brought {
    /// How long the acknowledgment in it took.
    pub(super) took: Option<u64>,
    /// When the segment was sent first.
    pub(super) first: Option<u64>,
}

impl Depth {
    /// Begins with a segment.
    pub(super) fn new(now: u64) -> Box<Self> {
        Box::new(Self { at: now, ..Self::default() })
    }

    /// Takes a segment; the sides are those after it.
    pub(super) fn take(&mut self, sides: &[Side; 2], flipped: bool, step: &Step<'_>) -> Brought {
        let passed = step.now.saturating_sub(self.at);
        self.at = step.now;
        let (own, peer) = pair(sides, flipped);
        let [first, second] = &mut self.ways;
        let (mine, theirs) = if flipped { (second, first) } else { (first, second) };
        mine.limits.pass(passed, step.labels.has(Label::Retransmission));
        theirs.limits.pass(passed, false);
        let first = mine.send(own, peer, step);
        mine.probe(theirs, peer, step);
        theirs.unanswered = 0;
        let took = theirs.answer(peer, step);
        let segment = step.segment;
        if segment.any(RST) {
            mine.closed.announce(true, step.now, step.frame);
            theirs.closed.announce(true, step.now, step.frame);
        } else if segment.any(ACK) && !segment.any(SYN | FIN) {
            mine.closed.announce(segment.win > 0, step.now, step.frame);
        }
        mine.limits.settle(own, peer, mine.largest);
        theirs.limits.settle(peer, own, theirs.largest);
        Brought { took, first }
    }
}

/// Returns the sender's of two things, and the other's.
pub(super) fn pair<T>([first, second]: &[T; 2], flipped: bool) -> (&T, &T) {
    if flipped { (second, first) } else { (first, second) }
}

impl Way {
    fn send(&mut self, own: &Side, peer: &Side, step: &Step<'_>) -> Option<u64> {
        let (seq, end) = step.span();
        if seq == end {
            return None;
        }
        self.largest = self.largest.max(step.len);
        let labels = step.labels;
        if labels.has(Label::LostSegment) {
            self.losses.gap(step.high, seq, peer.last_ack);
            self.limits.lost(own);
        } else if labels.has(Label::Retransmission) || labels.has(Label::OutOfOrder) {
            let late = step.late.unwrap_or_else(|| labels.has(Label::OutOfOrder));
            if self.losses.behind((seq, end), labels.has(Label::SpuriousRetransmission), late) {
                self.limits.lost(own);
            }
        }
        if labels.has(Label::Retransmission) {
            self.large.again(step.len, u32::from(self.flight.passed), step.frame);
        }
        let behind = step.high != 0 && before(seq, step.high);
        let heard = peer.packets > 0 && !step.segment.crowded;
        self.flight.send((seq, end), behind, step.now, heard)
    }

    /// Counts what asks for an answer, and whether it asks for room.
    fn probe(&mut self, theirs: &mut Self, peer: &Side, step: &Step<'_>) {
        // A sender acknowledges no less than before: what does was overtaken, and asks for nothing. Behind a FIN it looks like a
        // keep-alive.
        let segment = step.segment;
        if segment.any(ACK) {
            if self.acked.is_some_and(|acked| before(segment.ack, acked)) {
                return;
            }
            self.acked = Some(segment.ack);
        }
        let labels = step.labels;
        let one_byte = labels.has(Label::ZeroWindowProbe);
        let asks = one_byte || labels.has(Label::KeepAlive);
        // Some ask for room without a byte, one number back: the look of a keep-alive, into a closed window.
        if one_byte || (asks && peer.win == 0) {
            theirs.closed.probes = theirs.closed.probes.saturating_add(1);
        }
        if asks || labels.has(Label::Retransmission) {
            if self.unanswered == 0 {
                self.unanswered_frame = step.frame;
            }
            self.unanswered = self.unanswered.saturating_add(1);
        }
    }

    /// Takes what the other end acknowledges of this direction.
    fn answer(&mut self, own: &Side, step: &Step<'_>) -> Option<u64> {
        let ack = step.segment.ack;
        if step.segment.any(ACK) {
            self.losses.acknowledge(ack, own.next);
            if step.segment.len == Some(0) || !step.sack.is_empty() {
                self.losses.sack(step.sack, ack);
            }
        }
        let took = self.flight.acknowledge(ack, step.now);
        self.large.hear(u32::from(self.flight.passed));
        took
    }
}
