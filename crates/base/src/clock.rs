//! Time as a port, so that pure code takes it as a value and tests can set it.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

/// A point in time, in UTC, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Builds a timestamp from milliseconds since 1970.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the moment that lies `duration` later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns how long ago `earlier` was, zero where it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Prints as RFC 3339 with milliseconds, which sorts as text in order of time.
impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
        let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000).ok();
        match moment.and_then(|moment| moment.format(form).ok()) {
            Some(text) => out.write_str(&text),
            None => write!(out, "{}ms", self.0),
        }
    }
}

/// Why a text is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a moment is written as 2026-01-31T23:59:59.123Z")]
pub struct MomentError;

/// Reads exactly what [`fmt::Display`] prints: a moment has one spelling.
impl FromStr for Timestamp {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| MomentError)?;
        let read = i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000)).map(Self);
        read.ok().filter(|read| read.to_string() == text).ok_or(MomentError)
    }
}

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// Starts a clock that shows `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *now = now.plus(by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_prints_as_rfc_3339() {
        assert_eq!(Timestamp::from_millis(1_700_000_000_123).to_string(), "2023-11-14T22:13:20.123Z");
    }

    #[test]
    fn what_is_printed_can_be_read() {
        let moment = Timestamp::from_millis(1_700_000_000_123);
        assert_eq!(moment.to_string().parse(), Ok(moment));
        for text in
            ["yesterday", "1970-01-01 00:00:00.000Z", "1970-01-01T00:00:00Z", "1970-01-01T01:00:00.000+01:00"]
        {
            assert_eq!(text.parse::<Timestamp>(), Err(MomentError), "{text}");
        }
    }

    #[test]
    fn a_moment_outside_the_calendar_still_prints() {
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), format!("{}ms", i64::MAX));
    }

    #[test]
    fn a_manual_clock_moves_only_when_advanced() {
        let clock = ManualClock::new(Timestamp::from_millis(0));
        clock.advance(Duration::from_secs(2));
        assert_eq!(clock.now().since(Timestamp::from_millis(0)), Duration::from_secs(2));
    }
}
