//! How much a client may ask for: so many requests a minute, and none that is answered twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ghost_base::Timestamp;

/// A request in parts: in a millisecond, one part is gained for each request that may come in a minute.
const REQUEST: u64 = 60_000;

/// Lets so many requests a minute pass, and as many at once.
pub(super) struct RateLimit {
    per_minute: u32,
    state: Mutex<Bucket>,
}

struct Bucket {
    /// How many requests may come now, in parts of [`REQUEST`].
    left: u64,
    at: Timestamp,
}

impl RateLimit {
    /// Begins with as many as may come in a minute.
    pub(super) fn new(per_minute: u32, now: Timestamp) -> Self {
        Self { per_minute, state: Mutex::new(Bucket { left: u64::from(per_minute) * REQUEST, at: now }) }
    }

    /// Takes a request; where it is too many, returns how long to wait.
    pub(super) fn take(&self, now: Timestamp) -> Result<(), Duration> {
        let mut bucket = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = u64::try_from(now.since(bucket.at).as_millis()).unwrap_or(u64::MAX);
        let rate = u64::from(self.per_minute);
        if passed > 0 {
            bucket.left = bucket.left.saturating_add(passed.saturating_mul(rate)).min(rate * REQUEST);
            bucket.at = now;
        }
        if bucket.left >= REQUEST {
            bucket.left -= REQUEST;
            return Ok(());
        }
        Err(Duration::from_millis((REQUEST - bucket.left).div_ceil(rate.max(1))))
    }
}

/// Remembers signatures for as long as they would be believed again.
pub(super) struct Once {
    window: Duration,
    seen: Mutex<HashMap<String, Timestamp>>,
}

impl Once {
    /// Remembers for so long.
    pub(super) fn new(window: Duration) -> Self {
        Self { window, seen: Mutex::default() }
    }

    /// Tells whether a signature comes for the first time.
    pub(super) fn is_first(&self, signature: &str, now: Timestamp) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|_, at| now.since(*at) <= self.window);
        seen.insert(signature.to_owned(), now).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_burst_passes_and_then_one_at_a_time() {
        let limit = RateLimit::new(60, at(0));
        (0..60).for_each(|_| limit.take(at(0)).unwrap());
        assert_eq!(limit.take(at(0)), Err(Duration::from_secs(1)));
        assert_eq!(limit.take(at(500)), Err(Duration::from_millis(500)));
        assert_eq!(limit.take(at(1_000)), Ok(()));
        assert!(limit.take(at(1_000)).is_err());
        // No more are saved up than a minute brings.
        (0..60).for_each(|_| limit.take(at(10_000_000)).unwrap());
        assert!(limit.take(at(10_000_000)).is_err());
    }

    #[test]
    fn whoever_asks_all_the_time_gets_as_many_as_they_may() {
        let limit = RateLimit::new(7, at(0));
        let passed = (0..600_000).step_by(10).filter(|millis| limit.take(at(*millis)).is_ok()).count();
        assert!((70..=77).contains(&passed), "{passed}");
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let limit = RateLimit::new(1, at(60_000));
        limit.take(at(60_000)).unwrap();
        assert!(limit.take(at(0)).is_err() && limit.take(at(1)).is_err());
        assert_eq!(limit.take(at(120_000)), Ok(()));
    }

    #[test]
    fn a_signature_counts_once_while_it_would_be_believed() {
        let once = Once::new(Duration::from_secs(600));
        assert!(once.is_first("v0=a", at(0)) && !once.is_first("v0=a", at(600_000)));
        assert!(once.is_first("v0=b", at(600_000)) && once.is_first("v0=a", at(1_300_000)));
    }
}
