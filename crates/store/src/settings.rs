//! Settings of both backends.

use std::time::Duration;

use crate::StoreError;

/// The longest line, record or item in bytes. What is larger belongs into the evidence folder.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// How long things last.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a delivery is remembered, so that a second one is recognized; less than an hour counts as an hour.
    pub remember: Duration,
    /// How long a session that was handed to a worker is not handed to another, so that it can take the lease.
    pub claim: Duration,
    /// How often a waiting worker checks for what other processes delivered.
    pub poll: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            remember: Duration::from_secs(2 * 3600),
            claim: Duration::from_secs(5),
            poll: Duration::from_millis(250),
        }
    }
}

impl Settings {
    pub(super) fn remember(&self) -> Duration {
        self.remember.max(Duration::from_secs(3600))
    }
}

/// Returns whole milliseconds, as both backends count.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Refuses what neither backend should carry.
pub(super) fn fits<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
    match lines.into_iter().map(str::len).find(|length| *length > MAX_LINE_BYTES) {
        Some(bytes) => Err(StoreError::TooLarge { bytes }),
        None => Ok(()),
    }
}
