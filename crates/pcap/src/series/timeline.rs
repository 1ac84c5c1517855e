//! A capture over time, in columns of the same width. When the last is full, two and two become one.

use super::rtt_histogram::RttHistogram;
use crate::label::{Label, Labels};

/// How many columns there are.
const MAX_COLUMNS: usize = 256;
/// The first width is about a microsecond.
const MIN_COLUMN_BITS: u32 = 10;

/// What happened in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimelineColumn {
    /// The packets of the column.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Packets that were sent again.
    pub again: u64,
    /// Packets that announce a window of nothing.
    pub closed: u64,
    /// The TCP segments with RST.
    pub resets: u64,
}

impl TimelineColumn {
    /// Adds another column.
    pub fn join(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.again += other.again;
        self.closed += other.closed;
        self.resets += other.resets;
    }
}

/// The columns.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    origin: Option<u64>,
    /// The width is two to the power of this, in nanoseconds.
    power: u32,
    columns: Vec<TimelineColumn>,
    /// Empty until there is a round trip.
    rtts: Vec<RttHistogram>,
    last: u64,
}

impl Timeline {
    /// Counts a frame.
    pub(super) fn frame(&mut self, time: u64, wire: usize, labels: Labels) {
        let at = self.at(time);
        if let Some(column) = self.columns.get_mut(at) {
            column.packets += 1;
            column.bytes += wire as u64;
            column.again += u64::from(labels.has(Label::Retransmission));
            column.closed += u64::from(labels.has(Label::ZeroWindow));
            column.resets += u64::from(labels.has(Label::Reset));
        }
    }

    /// Counts a round trip that ended now.
    pub(super) fn rtt(&mut self, time: u64, nanos: u64) {
        let at = self.at(time);
        if self.rtts.is_empty() {
            self.rtts.resize_with(MAX_COLUMNS, RttHistogram::default);
        }
        if let Some(rtts) = self.rtts.get_mut(at) {
            rtts.add(nanos);
        }
    }

    /// Returns when the first column begins.
    #[must_use]
    pub fn origin(&self) -> u64 {
        self.origin.unwrap_or(0)
    }

    /// Returns the time between the first frame and the last.
    #[must_use]
    pub fn span(&self) -> u64 {
        self.last.saturating_sub(self.origin())
    }

    /// Returns how many nanoseconds a column is wide.
    #[must_use]
    pub fn width(&self) -> u64 {
        1 << self.power
    }

    /// Returns the columns up to the last frame.
    #[must_use]
    pub fn columns(&self) -> &[TimelineColumn] {
        let used = (self.span() >> self.power) as usize + 1;
        self.columns.get(..used).unwrap_or(&self.columns)
    }

    /// Returns the round trips of the same columns, or nothing where there are none.
    #[must_use]
    pub fn rtts(&self) -> &[RttHistogram] {
        self.rtts.get(..self.columns().len()).unwrap_or(&self.rtts)
    }

    /// Returns the column of a time. What lies before the first frame belongs to the first column.
    fn at(&mut self, time: u64) -> usize {
        let Some(origin) = self.origin else {
            self.origin = Some(time);
            self.power = MIN_COLUMN_BITS;
            self.columns.resize(MAX_COLUMNS, TimelineColumn::default());
            self.last = time;
            return 0;
        };
        self.last = self.last.max(time);
        let since = time.saturating_sub(origin);
        while since >> self.power >= MAX_COLUMNS as u64 {
            self.fold();
        }
        (since >> self.power) as usize
    }

    fn fold(&mut self) {
        self.power += 1;
        let joined = |pair: &[TimelineColumn]| {
            pair.iter().fold(TimelineColumn::default(), |mut sum, column| {
                sum.join(*column);
                sum
            })
        };
        let mut columns: Vec<TimelineColumn> = self.columns.chunks(2).map(joined).collect();
        columns.resize(MAX_COLUMNS, TimelineColumn::default());
        self.columns = columns;
        if !self.rtts.is_empty() {
            for at in 0..MAX_COLUMNS / 2 {
                let mut sum = RttHistogram::default();
                self.rtts.iter().skip(2 * at).take(2).for_each(|rtts| sum.join(rtts));
                if let Some(place) = self.rtts.get_mut(at) {
                    *place = sum;
                }
            }
            self.rtts.iter_mut().skip(MAX_COLUMNS / 2).for_each(|rtts| *rtts = RttHistogram::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_frame_and_no_round_trip_is_lost(times in proptest::collection::vec(any::<u64>(), 1..200)) {
            let mut timeline = Timeline::default();
            for time in &times {
                timeline.frame(*time, 60, Labels::default());
                timeline.rtt(*time, 1_000_000);
            }
            let sum: u64 = timeline.columns().iter().map(|column| column.packets).sum();
            prop_assert_eq!(sum, times.len() as u64);
            let sum: u64 = timeline.rtts().iter().map(RttHistogram::count).sum();
            prop_assert_eq!(sum, times.len() as u64);
            prop_assert!(timeline.columns().len() <= MAX_COLUMNS);
        }
    }

    #[test]
    fn a_frame_stands_in_the_column_of_its_time() {
        let mut timeline = Timeline::default();
        for second in 0..100_u64 {
            timeline.frame(5_000_000_000 + second * 1_000_000_000, 100, Labels::default());
        }
        let (width, columns) = (timeline.width(), timeline.columns());
        assert_eq!(columns.len() as u64, timeline.span() / width + 1);
        for second in 0..100_u64 {
            let at = (second * 1_000_000_000 / width) as usize;
            assert!(columns[at].packets >= 1, "second {second}");
        }
    }
}
