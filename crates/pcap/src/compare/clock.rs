//! By how much two clocks differ, and how they drift apart: from packets that both places saw.

use serde::Serialize;

use super::capture::{CaptureSide, Captures, NONE};
use super::matching::PacketMatches;
use super::path_order::PathOrder;

/// The time is cut into this many bins; of each the fastest packets count.
const DRIFT_BINS: usize = 64;
/// How many of them have to hold packets before a drift is looked for.
const MIN_DRIFT_BINS: usize = 8;
/// A shorter time shows no drift.
const MIN_DRIFT_SPAN: u64 = 10_000_000_000;
/// No clock of a computer is worse than this.
const MAX_DRIFT: f64 = 500e-6;
/// What comes of it within the capture has to be more than this, in nanoseconds.
const MIN_DRIFT_EFFECT: f64 = 200_000.0;

/// Two clocks.
#[derive(Debug)]
pub(super) struct Clock {
    /// How much B's says more than A's, in nanoseconds.
    pub(super) offset: i64,
    /// How much of that comes every nanosecond.
    pub(super) drift: f64,
    /// How far off the drift may be.
    pub(super) drift_off: f64,
    /// By the clock of A, when the offset is that.
    since: u64,
    /// The least time from A to B and back, where both directions were seen.
    pub(super) round: Option<u64>,
    /// How it was measured.
    pub(super) how: ClockSource,
    /// Packets that it was measured with.
    pub(super) packets: u64,
    /// Where packets come to.
    pub(super) toward: PathOrder,
}

/// How the difference of two clocks was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// The fastest packets of both directions: half their round trip is what it may be off.
    BothDirections,
    /// The fastest packets of one: delays are reported above the least one.
    OneDirection,
    /// Nothing: both clocks are taken to be right.
    Assumed,
}

/// The fastest packet of a time bin: when, and how much later it seemed to arrive.
type Floor = (f64, f64);

impl Clock {
    /// Compares the clocks.
    pub(super) fn new(captures: &Captures, join: &PacketMatches) -> Self {
        let toward = PathOrder::new(captures, join);
        let pairs = || {
            captures.a.seen.iter().zip(&join.a).filter_map(|(one, other)| {
                let other = captures.b.seen.get(*other as usize).filter(|_| *other != NONE)?;
                Some((one.time, other.time.wrapping_sub(one.time) as i64, toward.of(one.address_pair)))
            })
        };
        let since = pairs().map(|(time, ..)| time).min().unwrap_or(0);
        let span = pairs().map(|(time, ..)| time).max().unwrap_or(0).saturating_sub(since);
        let (mut there, mut back) = (vec![None; DRIFT_BINS], vec![None; DRIFT_BINS]);
        let mut packets = 0;
        for (time, later, toward) in pairs() {
            packets += 1;
            let age = time.saturating_sub(since);
            let bin = (u128::from(age) * DRIFT_BINS as u128 / (u128::from(span) + 1)) as usize;
            let (floors, value) = match toward {
                CaptureSide::B => (&mut there, later as f64),
                CaptureSide::A => (&mut back, -(later as f64)),
            };
            if let Some(place) = floors.get_mut(bin)
                && place.is_none_or(|(_, least)| value < least)
            {
                *place = Some((age as f64, value));
            }
        }
        let there: Vec<Floor> = there.into_iter().flatten().collect();
        let back: Vec<Floor> = back.into_iter().flatten().collect();
        let (drift, drift_off) =
            if span >= MIN_DRIFT_SPAN { drift(&there, &back, span as f64) } else { (0.0, 0.0) };
        let (fast_there, fast_back) = (fastest(&there, drift), fastest(&back, -drift));
        let (offset, round, how) = match (fast_there, fast_back) {
            (Some(there), Some(back)) => {
                ((there - back) / 2.0, Some((there + back).max(0.0) as u64), ClockSource::BothDirections)
            }
            (Some(there), None) => (there, None, ClockSource::OneDirection),
            (None, Some(back)) => (-back, None, ClockSource::OneDirection),
            (None, None) => (0.0, None, ClockSource::Assumed),
        };
        Self { offset: offset as i64, drift, drift_off, since, round, how, packets, toward }
    }

    /// Returns a time by A's clock.
    pub(super) fn common(&self, which: CaptureSide, time: u64) -> u64 {
        match which {
            CaptureSide::A => time,
            CaptureSide::B => {
                let there = time.saturating_add_signed(self.offset.saturating_neg());
                let age = there as i128 - i128::from(self.since);
                there.saturating_add_signed(-((age as f64 * self.drift) as i64))
            }
        }
    }

    /// Returns how long a packet took from one place to the other, by both clocks.
    pub(super) fn delay(&self, toward: CaptureSide, (a, b): (u64, u64)) -> i64 {
        let (a, b) = (self.common(CaptureSide::A, a), self.common(CaptureSide::B, b));
        let (left, arrived) = toward.of((b, a), (a, b));
        arrived.wrapping_sub(left) as i64
    }
}

/// Fits a line through the fastest packets of each direction: queues that fill look like a drift in one of them alone.
fn drift(there: &[Floor], back: &[Floor], span: f64) -> (f64, f64) {
    let (one, other) = (slope(there), slope(back).map(|(slope, off)| (-slope, off)));
    let found =
        match (one, other) {
            (Some((one, off_one)), Some((other, off_other))) if one * other > 0.0 => {
                if one.abs() < other.abs() { (one, off_one) } else { (other, off_other) }
            }
            (Some(_), Some(_)) | (None, None) => (0.0, 0.0),
            (Some(only), None) | (None, Some(only)) => only,
        };
    let (slope, off) = found;
    let clear = slope.abs() > 2.0 * off && slope.abs() <= MAX_DRIFT && slope.abs() * span > MIN_DRIFT_EFFECT;
    if clear { (slope, off) } else { (0.0, off) }
}

/// The median of the slopes between any two: a few odd ones change nothing.
fn slope(floors: &[Floor]) -> Option<(f64, f64)> {
    if floors.len() < MIN_DRIFT_BINS {
        return None;
    }
    let mut slopes: Vec<f64> = Vec::new();
    for (at, (time, value)) in floors.iter().enumerate() {
        for (later, higher) in floors.iter().skip(at + 1) {
            if later > time {
                slopes.push((higher - value) / (later - time));
            }
        }
    }
    slopes.sort_by(f64::total_cmp);
    let quarter = |part: usize| slopes.get((slopes.len().saturating_sub(1)) * part / 4).copied();
    let off = (quarter(3)? - quarter(1)?) / (floors.len() as f64).sqrt();
    Some((quarter(2)?, off))
}

/// Returns the least of all once the drift is taken out; what lies far below the rest was joined wrongly.
fn fastest(floors: &[Floor], drift: f64) -> Option<f64> {
    let mut values: Vec<f64> = floors.iter().map(|(time, value)| value - time * drift).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.get(values.len() / 2).copied()?;
    let mut off: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    off.sort_by(f64::total_cmp);
    let usual = off.get(off.len() / 2).copied()?;
    values.into_iter().find(|value| *value >= middle - 8.0 * usual - 1e6 || floors.len() < MIN_DRIFT_BINS)
}
