//! Short waits: the demo shows that there is a wait and does not last as long.

use std::time::Duration;

use async_trait::async_trait;

use ghost_base::{Clock as _, Timestamp};
use ghost_lab::LabClock;
use ghost_session::Sleep;

/// Nobody waits longer than this.
const MAX_WAIT: Duration = Duration::from_millis(800);

/// Waits a moment, and puts the lab's clock forward by the rest.
#[derive(Debug, Clone)]
pub(in crate::cli) struct ShortSleep(LabClock);

impl ShortSleep {
    /// Puts this clock forward.
    pub(in crate::cli) fn by(clock: LabClock) -> Self {
        Self(clock)
    }
}

#[async_trait]
impl Sleep for ShortSleep {
    async fn until(&self, at: Timestamp) {
        tokio::time::sleep(at.since(self.0.now()).min(MAX_WAIT)).await;
        self.0.pass(at.since(self.0.now()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use ghost_base::ManualClock;

    #[tokio::test(start_paused = true)]
    async fn a_long_wait_is_over_soon_and_the_clock_says_that_it_was_long() {
        let clock = LabClock::new(Arc::new(ManualClock::new(Timestamp::from_millis(1_000))));
        let began = tokio::time::Instant::now();
        ShortSleep::by(clock.clone()).until(Timestamp::from_millis(61_000)).await;
        assert_eq!(clock.now(), Timestamp::from_millis(61_000));
        assert_eq!(began.elapsed(), MAX_WAIT);
    }
}
