//! What a session used.

use std::time::Duration;

use ghost_base::Timestamp;

/// What a session used so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spent {
    /// Turns that a model answered.
    pub turns: u32,
    /// Commands that ran, or may have.
    pub commands: u32,
    /// Questions that were asked.
    pub approvals: u32,
    /// Tokens read and written, as far as they are known.
    pub tokens: u64,
    /// Millionths of a dollar, as far as they are known.
    pub cost_micros: u64,
    /// Turns whose price or tokens are not known.
    pub turns_without_price: u32,
    /// Bytes of packets captured.
    pub captured_bytes: u64,
    /// Time in which a human was waited for, or nobody worked.
    pub waited: Duration,
}

impl Spent {
    /// Returns how long the session has been at work.
    #[must_use]
    pub fn at_work(&self, opened: Timestamp, now: Timestamp) -> Duration {
        now.since(opened).saturating_sub(self.waited)
    }
}
