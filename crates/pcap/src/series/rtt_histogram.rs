//! Round trips of one column: few enough places that there can be hundreds of columns.

/// The smallest power of two that is distinguished: about a microsecond.
const MIN_EXPONENT: u32 = 10;
/// The largest: about a minute.
const MAX_EXPONENT: u32 = 36;
/// Steps between one power and the next.
const BUCKETS_PER_OCTAVE: u32 = 32;
const BUCKETS: usize = ((MAX_EXPONENT - MIN_EXPONENT) * BUCKETS_PER_OCTAVE) as usize;

/// How often which round trip was measured. Percentiles are right within a sixtieth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RttHistogram {
    places: [u32; BUCKETS],
    count: u64,
}

impl Default for RttHistogram {
    fn default() -> Self {
        Self { places: [0; BUCKETS], count: 0 }
    }
}

impl RttHistogram {
    /// Adds a measurement.
    pub(super) fn add(&mut self, nanos: u64) {
        if let Some(place) = self.places.get_mut(place(nanos)) {
            *place = place.saturating_add(1);
            self.count += 1;
        }
    }

    /// Adds those of another column.
    pub fn join(&mut self, other: &Self) {
        // Most columns are joined while there is little in them.
        if other.count == 0 {
            return;
        }
        for (own, other) in self.places.iter_mut().zip(&other.places) {
            *own = own.saturating_add(*other);
        }
        self.count += other.count;
    }

    /// Returns how many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the milliseconds that so many percent do not exceed.
    #[must_use]
    pub fn percentile_ms(&self, percent: u64) -> Option<f64> {
        let wanted = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let place = self.places.iter().position(|count| {
            seen += u64::from(*count);
            seen >= wanted
        })?;
        let (power, step) =
            (place as u32 / BUCKETS_PER_OCTAVE + MIN_EXPONENT, place as u32 % BUCKETS_PER_OCTAVE);
        let width = f64::from(BUCKETS_PER_OCTAVE);
        Some((1_u64 << power) as f64 * (1.0 + (f64::from(step) + 0.5) / width) / 1e6)
    }
}

fn place(nanos: u64) -> usize {
    let nanos = nanos.clamp(1 << MIN_EXPONENT, (1 << MAX_EXPONENT) - 1);
    let power = nanos.ilog2();
    let step = (nanos >> (power - BUCKETS_PER_OCTAVE.ilog2())) as u32 % BUCKETS_PER_OCTAVE;
    ((power - MIN_EXPONENT) * BUCKETS_PER_OCTAVE + step) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_within_a_sixtieth() {
        let mut rtts = RttHistogram::default();
        (1..=10_000_u64).for_each(|nanos| rtts.add(nanos * 10_000));
        for percent in [1, 50, 90, 99] {
            let (found, right) = (rtts.percentile_ms(percent).unwrap(), percent as f64);
            assert!((found - right).abs() * 60.0 <= right, "p{percent}: {found}");
        }
        assert_eq!(RttHistogram::default().percentile_ms(50), None);
    }

    #[test]
    fn what_is_too_short_or_too_long_lands_at_the_edge() {
        let mut rtts = RttHistogram::default();
        rtts.add(0);
        rtts.add(u64::MAX);
        assert!(rtts.percentile_ms(50).unwrap() < 0.0012);
        assert!(rtts.percentile_ms(99).unwrap() > 60_000.0);
    }
}
