//! The time that both captures cover; packets outside of it are neither lost nor new.

use super::capture::{CaptureSide, Captures, NONE};
use super::clock::{Clock, ClockSource};
use super::matching::PacketMatches;
use crate::histogram::Histogram;

/// The times of both captures, by the clock of A.
#[derive(Debug)]
pub(super) struct Overlap {
    a: (u64, u64),
    b: (u64, u64),
    /// How long packets take to each place: the least, and nearly the most.
    to_a: (u64, u64),
    to_b: (u64, u64),
    /// Clocks that nothing could compare may be off by so much.
    slack: u64,
}

/// How far clocks are trusted that nothing could compare, in nanoseconds, and as a part of the shorter capture.
const MAX_EDGE_SLACK: u64 = 1_000_000_000;
const SLACK_PART: u64 = 20;

impl Overlap {
    /// Compares the spans of both captures, with how long packets took.
    pub(super) fn new(captures: &Captures, join: &PacketMatches, clock: &Clock) -> Self {
        let (mut to_a, mut to_b) = (Histogram::default(), Histogram::default());
        for (one, other) in captures.a.seen.iter().zip(&join.a) {
            let Some(other) = captures.b.seen.get(*other as usize).filter(|_| *other != NONE) else {
                continue;
            };
            let toward = clock.toward.of(one.address_pair);
            let delay = clock.delay(toward, (one.time, other.time)).max(0) as u64;
            toward.of(&mut to_a, &mut to_b).add(delay);
        }
        let times = |which: CaptureSide| {
            let capture = captures.capture(which);
            let first = capture.first.map_or(u64::MAX, |first| clock.common(which, first));
            (first, capture.first.map_or(0, |_| clock.common(which, capture.last)))
        };
        let (a, b) = (times(CaptureSide::A), times(CaptureSide::B));
        let slack = match clock.how {
            ClockSource::Assumed => MAX_EDGE_SLACK.min(length(a).min(length(b)) / SLACK_PART),
            ClockSource::BothDirections | ClockSource::OneDirection => 0,
        };
        Self { a, b, to_a: bounds(&to_a), to_b: bounds(&to_b), slack }
    }

    /// Tells whether a place would have captured a packet that passed the other one at that time.
    pub(super) fn judges(&self, place: CaptureSide, time: u64) -> bool {
        let (first, last) = place.of(self.a, self.b);
        let (least, most) = place.of(self.to_a, self.to_b);
        // What arrived first was captured first: what left before it may have come too early.
        let early = time.saturating_add(least).saturating_add(self.slack) <= first;
        !early && time.saturating_add(most) < last.saturating_add(self.slack)
    }

    /// Returns the time that both cover, and that each of them covers, in nanoseconds.
    pub(super) fn lengths(&self) -> (u64, u64, u64) {
        let (first, last) = self.common();
        (last.saturating_sub(first), length(self.a), length(self.b))
    }

    /// Returns by how much B begins later than A, and ends earlier; below zero where it is the reverse.
    pub(super) fn shifts(&self) -> (i64, i64) {
        let apart = |one: u64, other: u64| one.wrapping_sub(other) as i64;
        (apart(self.b.0, self.a.0), apart(self.a.1, self.b.1))
    }

    /// Returns the end of the time that both cover, by the clock of A.
    pub(super) fn end(&self) -> u64 {
        self.common().1
    }

    fn common(&self) -> (u64, u64) {
        (self.a.0.max(self.b.0), self.a.1.min(self.b.1))
    }
}

fn length((first, last): (u64, u64)) -> u64 {
    last.saturating_sub(first)
}

/// The least, and what hardly any exceeds.
fn bounds(spread: &Histogram) -> (u64, u64) {
    let most = spread.percentile(99);
    (spread.min(), if spread.count() < 100 { spread.max() } else { most + most / 16 })
}
