//! Times in which an end takes nothing more.

/// How often and how long an end kept its window closed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Closed {
    /// How often it closed.
    pub(crate) periods: u32,
    /// The frame in which it first did.
    pub(crate) frame: u64,
    /// Probes that asked whether it is still closed, of either style.
    pub(crate) probes: u32,
    total: u64,
    longest: u64,
    since: u64,
}

impl Closed {
    /// Takes a window that the end announces.
    pub(super) fn announce(&mut self, open: bool, now: u64, frame: u64) {
        if !open && self.since == 0 {
            self.since = now;
            self.periods = self.periods.saturating_add(1);
            if self.frame == 0 {
                self.frame = frame;
            }
        } else if open && self.since != 0 {
            (self.total, self.longest) = self.until(now);
            self.since = 0;
        }
    }

    /// Returns how long it was closed in all and at a stretch, up to the end of the connection.
    pub(crate) fn until(&self, now: u64) -> (u64, u64) {
        if self.since == 0 {
            return (self.total, self.longest);
        }
        let took = now.saturating_sub(self.since);
        (self.total.saturating_add(took), self.longest.max(took))
    }

    /// Says whether it is still closed.
    pub(crate) fn shut(&self) -> bool {
        self.since != 0
    }
}
