//! The same segment again and again: how often, and how long between.

/// How many pauses are kept of a run.
const PAUSES: usize = 7;

/// Repetitions of one segment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Run {
    seq: u32,
    /// How often it was sent again.
    pub(crate) times: u32,
    /// The frame of the first repetition.
    pub(crate) frame: u64,
    at: u64,
    /// Microseconds.
    pauses: [u32; PAUSES],
    kept: u8,
}

/// Runs of one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Repeats {
    now: Run,
    longest: Run,
}

impl Run {
    /// Returns the pauses in microseconds: from the first time to the second, and so on.
    pub(crate) fn pauses(&self) -> &[u32] {
        self.pauses.get(..usize::from(self.kept)).unwrap_or_default()
    }

    /// Says whether a timer ran out each time: every pause is about twice the one before.
    ///
    /// One may differ: the first counts from the first copy, whose timer may have been set anew since.
    pub(crate) fn doubles(&self) -> bool {
        let pairs = || self.pauses().iter().zip(self.pauses().iter().skip(1));
        let doubled = pairs().filter(|(one, next)| tenths(**one, **next, 16..=26)).count();
        let growing = pairs().skip(1).all(|(one, next)| tenths(*one, *next, 13..=u64::MAX));
        doubled >= 1 && doubled + 1 >= pairs().count() && growing
    }

    fn pause(&mut self, nanos: u64) {
        if let Some(free) = self.pauses.get_mut(usize::from(self.kept)) {
            *free = u32::try_from(nanos / 1000).unwrap_or(u32::MAX);
            self.kept += 1;
        }
    }
}

/// Says whether a pause is so many tenths of the one before.
fn tenths(one: u32, next: u32, range: std::ops::RangeInclusive<u64>) -> bool {
    (u64::from(next) * 10).checked_div(u64::from(one)).is_some_and(|tenths| range.contains(&tenths))
}

impl Repeats {
    /// Takes a repetition; `first` is when the segment was sent first.
    pub(super) fn take(&mut self, seq: u32, first: Option<u64>, now: u64, frame: u64) {
        if self.now.times > 0 && self.now.seq == seq {
            self.now.pause(now.saturating_sub(self.now.at));
            self.now.times = self.now.times.saturating_add(1);
            self.now.at = now;
            return;
        }
        self.longest = self.longest();
        self.now = Run { seq, times: 1, frame, at: now, ..Run::default() };
        if let Some(first) = first {
            self.now.pause(now.saturating_sub(first));
        }
    }

    /// Returns the segment that was sent most often.
    pub(crate) fn longest(&self) -> Run {
        if self.now.times > self.longest.times { self.now } else { self.longest }
    }
}
