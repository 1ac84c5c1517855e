//! Bytes in flight: segments without acknowledgment, and the time acknowledgments took.

use std::collections::VecDeque;

use super::sender::{at_most, before};

/// How many segments in transit are remembered; more are seldom, and not timed.
const MAX_TRACKED_SEGMENTS: usize = 256;
/// The limit where no packet of the other end was seen, as nothing will acknowledge them here, or where very many connections are followed.
const MAX_TRACKED_UNANSWERED: usize = 8;

/// A segment in transit.
#[derive(Debug, Clone, Copy)]
struct SentSegment {
    at: u64,
    end: u32,
    len: u16,
    /// It was sent again since, or is such a repetition.
    again: bool,
}

/// What one direction has in transit.
#[derive(Debug, Clone, Default)]
pub(crate) struct BytesInFlight {
    sent: VecDeque<SentSegment>,
    /// Entries that do not stand in the order of their numbers may be among them.
    mixed: bool,
    /// The largest segment that was sent once and acknowledged.
    pub(crate) passed: u16,
    /// How many acknowledgments had a time.
    pub(crate) samples: u32,
    /// The shortest, in nanoseconds.
    pub(crate) least: u64,
    /// The longest.
    pub(crate) most: u64,
    /// All together.
    pub(crate) total: u64,
}

impl BytesInFlight {
    /// Notes a segment. Returns when it was sent first, if it was.
    pub(super) fn send(
        &mut self,
        (seq, end): (u32, u32),
        behind: bool,
        now: u64,
        peer_seen: bool,
    ) -> Option<u64> {
        let mut first = None;
        if behind {
            self.mixed = true;
            for sent in &mut self.sent {
                if before(seq, sent.end) && at_most(sent.end, end) {
                    sent.again = true;
                    first = first.or(Some(sent.at));
                }
            }
        }
        // The other end of a numbers' leap back: what follows is no longer in order.
        self.mixed |= self.sent.back().is_some_and(|last| before(end, last.end));
        if self.sent.len() < if peer_seen { MAX_TRACKED_SEGMENTS } else { MAX_TRACKED_UNANSWERED } {
            let len = u16::try_from(end.wrapping_sub(seq)).unwrap_or(u16::MAX);
            self.sent.push_back(SentSegment { at: now, end, len, again: behind });
        }
        first
    }

    /// Takes an acknowledgment; returns the time since the oldest segment that ends exactly there.
    pub(super) fn acknowledge(&mut self, ack: u32, now: u64) -> Option<u64> {
        let mut matched = None;
        let mut passed = self.passed;
        let mut covered = |sent: &SentSegment| {
            if !at_most(sent.end, ack) {
                return false;
            }
            if sent.end == ack && matched.is_none() {
                matched = Some(sent.at);
            }
            if !sent.again {
                passed = passed.max(sent.len);
            }
            true
        };
        if self.mixed {
            self.sent.retain(|sent| !covered(sent));
            self.mixed = !self.sent.is_empty();
        } else {
            while self.sent.front().is_some_and(&mut covered) {
                self.sent.pop_front();
            }
        }
        self.passed = passed;
        let ack_time = now.checked_sub(matched?).filter(|ack_time| *ack_time > 0)?;
        self.least = if self.samples == 0 { ack_time } else { self.least.min(ack_time) };
        self.most = self.most.max(ack_time);
        self.total = self.total.saturating_add(ack_time);
        self.samples = self.samples.saturating_add(1);
        Some(ack_time)
    }
}
