//! Retransmissions of one segment with their intervals, and large segments that never pass while smaller ones do.

/// How many pauses are kept of a run.
const MAX_PAUSES: usize = 7;

/// Repetitions of one segment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RetransmissionRun {
    seq: u32,
    /// How often it was sent again.
    pub(crate) times: u32,
    /// The frame of the first repetition.
    pub(crate) frame: u64,
    at: u64,
    /// Microseconds.
    pauses: [u32; MAX_PAUSES],
    kept: u8,
}

/// Runs of one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RetransmissionRuns {
    now: RetransmissionRun,
    longest: RetransmissionRun,
}

impl RetransmissionRun {
    /// Returns the pauses in microseconds: from the first time to the second, and so on.
    pub(crate) fn pauses(&self) -> &[u32] {
        self.pauses.get(..usize::from(self.kept)).unwrap_or_default()
    }

    /// Tells whether a timer ran out each time: every pause is about twice the one before.
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

/// Tells whether a pause is so many tenths of the one before.
fn tenths(one: u32, next: u32, range: std::ops::RangeInclusive<u64>) -> bool {
    (u64::from(next) * 10).checked_div(u64::from(one)).is_some_and(|tenths| range.contains(&tenths))
}

impl RetransmissionRuns {
    /// Takes a repetition; `first` is when the segment was sent first.
    pub(super) fn take(&mut self, seq: u32, first: Option<u64>, now: u64, frame: u64) {
        if self.now.times > 0 && self.now.seq == seq {
            self.now.pause(now.saturating_sub(self.now.at));
            self.now.times = self.now.times.saturating_add(1);
            self.now.at = now;
            return;
        }
        self.longest = self.longest();
        self.now = RetransmissionRun { seq, times: 1, frame, at: now, ..RetransmissionRun::default() };
        if let Some(first) = first {
            self.now.pause(now.saturating_sub(first));
        }
    }

    /// Returns the segment that was sent most often.
    pub(crate) fn longest(&self) -> RetransmissionRun {
        if self.now.times > self.longest.times { self.now } else { self.longest }
    }
}

/// Smaller segments pass every path.
const MIN_LARGE_SEGMENT: u32 = 1000;

/// Large segments of one direction that nobody acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LargeSegments {
    /// How often such were sent again.
    pub(crate) times: u32,
    /// The smallest of them.
    pub(crate) size: u32,
    /// The first repetition.
    pub(crate) frame: u64,
    /// How many bytes of them the sender tried last, where that is less: it noticed.
    pub(crate) cut_to: u32,
    /// The other end said something meanwhile.
    pub(crate) alive: bool,
}

impl LargeSegments {
    /// Takes a repetition; `passed` is the largest segment that was acknowledged.
    pub(super) fn again(&mut self, len: u32, passed: u32, frame: u64) {
        if len < MIN_LARGE_SEGMENT || len <= passed {
            if self.times > 0 && len > 0 {
                self.cut_to = len;
            }
            return;
        }
        if self.times == 0 {
            *self = Self { size: len, frame, ..Self::default() };
        }
        self.size = self.size.min(len);
        self.times = self.times.saturating_add(1);
    }

    /// The other end said something.
    pub(super) fn hear(&mut self, passed: u32) {
        if self.times > 0 && passed >= self.size {
            *self = Self::default();
        }
        self.alive |= self.times > 0;
    }
}
