//! The lab's clock: the machine's own, and whatever was skipped instead of waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ghost_base::{Clock, Timestamp};

/// A clock that can be put forward. Copies of it are one clock.
#[derive(Clone)]
pub struct LabClock {
    own: Arc<dyn Clock>,
    ahead: Arc<AtomicU64>,
}

impl std::fmt::Debug for LabClock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("LabClock").field("ahead", &self.ahead).finish_non_exhaustive()
    }
}

impl LabClock {
    /// Makes one that goes as another does.
    #[must_use]
    pub fn new(own: Arc<dyn Clock>) -> Self {
        Self { own, ahead: Arc::default() }
    }

    /// Lets time pass at once.
    pub fn pass(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let _ = self
            .ahead
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |ahead| Some(ahead.saturating_add(time)));
    }
}

impl Clock for LabClock {
    fn now(&self) -> Timestamp {
        self.own.now().plus(Duration::from_millis(self.ahead.load(Ordering::SeqCst)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_base::ManualClock;

    #[test]
    fn what_is_passed_over_stays_passed_over() {
        let own = Arc::new(ManualClock::new(Timestamp::from_millis(1_000)));
        let clock = LabClock::new(own.clone());
        let copy = clock.clone();
        clock.pass(Duration::from_secs(60));
        own.advance(Duration::from_secs(1));
        assert_eq!(copy.now(), Timestamp::from_millis(62_000));
    }
}
