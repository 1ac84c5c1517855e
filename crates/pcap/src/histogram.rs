//! A compact histogram of durations; its percentiles are exact to within one sixteenth.

/// A spread of durations in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    count: u64,
    min: u64,
    max: u64,
    latest: u64,
    /// Sorted by bucket; round trips of a flow fall into a handful of them.
    buckets: Vec<(u16, u32)>,
}

impl Histogram {
    /// Adds a measurement.
    pub(super) fn add(&mut self, nanos: u64) {
        self.add_within(nanos, usize::MAX);
    }

    /// Adds a measurement in at most so many places: of many spreads each has to be small, and is then less exact.
    pub(super) fn add_within(&mut self, nanos: u64, max_buckets: usize) {
        self.min = if self.count == 0 { nanos } else { self.min.min(nanos) };
        self.max = self.max.max(nanos);
        self.latest = nanos;
        self.count += 1;
        let bucket = bucket(nanos);
        let at = match self.buckets.binary_search_by_key(&bucket, |(known, _)| *known) {
            Ok(at) => at,
            Err(at) if self.buckets.len() >= max_buckets => self.nearest(bucket, at),
            Err(at) => {
                self.buckets.insert(at, (bucket, 0));
                at
            }
        };
        if let Some((_, count)) = self.buckets.get_mut(at) {
            *count = count.saturating_add(1);
        }
    }

    /// Returns the known bucket that is nearest to one that would stand at a place.
    fn nearest(&self, bucket: u16, at: usize) -> usize {
        let far = |at: usize| self.buckets.get(at).map_or(u16::MAX, |(known, _)| known.abs_diff(bucket));
        let before = at.saturating_sub(1);
        if far(before) <= far(at) { before } else { at }
    }

    /// Adds all measurements of another spread.
    pub(super) fn join(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        for (bucket, more) in &other.buckets {
            match self.buckets.binary_search_by_key(bucket, |(known, _)| *known) {
                Ok(at) => {
                    if let Some((_, count)) = self.buckets.get_mut(at) {
                        *count = count.saturating_add(*more);
                    }
                }
                Err(at) => self.buckets.insert(at, (*bucket, *more)),
            }
        }
    }

    /// Returns how many there were.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the one that was added last.
    pub(super) fn latest(&self) -> u64 {
        self.latest
    }

    /// Returns the smallest.
    pub(super) fn min(&self) -> u64 {
        self.min
    }

    /// Returns the largest.
    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// Returns how many were larger, as far as their places tell.
    pub(super) fn above(&self, nanos: u64) -> u64 {
        let limit = bucket(nanos);
        self.buckets.iter().filter(|(place, _)| *place > limit).map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the value that so many percent do not exceed.
    pub(super) fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += u64::from(*count);
            if seen >= wanted {
                return middle(*bucket).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

/// The position of the highest bit, and the four bits behind it.
fn bucket(nanos: u64) -> u16 {
    let Some(high) = nanos.checked_ilog2().filter(|high| *high >= 4) else {
        return nanos as u16;
    };
    let below = (nanos >> (high - 4)) & 15;
    (high as u16 - 3) * 16 + below as u16
}

fn middle(bucket: u16) -> u64 {
    if bucket < 16 {
        return u64::from(bucket);
    }
    let (high, below) = (u32::from(bucket / 16) + 3, u64::from(bucket % 16));
    let width = 1_u64 << (high - 4);
    (16 + below) * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_within_a_sixteenth() {
        let mut spread = Histogram::default();
        for nanos in 1..=100_000_u64 {
            spread.add(nanos * 1000);
        }
        for percent in [1, 10, 50, 90, 99] {
            let (found, right) = (spread.percentile(percent), percent * 1_000_000);
            assert!(found.abs_diff(right) * 16 <= right, "p{percent}: {found}");
        }
        assert_eq!((spread.min(), spread.max(), spread.count()), (1000, 100_000_000, 100_000));
        assert!(spread.buckets.len() < 300);
    }

    #[test]
    fn a_small_spread_stays_small_and_in_order() {
        let mut spread = Histogram::default();
        for nanos in 0..100_000_u64 {
            spread.add_within(nanos * 7919 % 1_000_003, 48);
        }
        assert_eq!(spread.buckets.len(), 48);
        assert!(spread.percentile(10) <= spread.percentile(90));
        assert!(spread.percentile(99) <= spread.max());
    }

    #[test]
    fn one_measurement_is_every_percentile() {
        let mut spread = Histogram::default();
        spread.add(u64::MAX);
        assert_eq!(spread.percentile(50), u64::MAX);
        assert_eq!(Histogram::default().percentile(99), 0);
    }
}
