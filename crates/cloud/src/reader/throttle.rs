//! Patience that all sessions share: where the platform asks one of them to wait, all of them wait.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

/// How many requests are open at once. The platform takes 250 reads at once and 25 more each second, from everybody who reads as the same
/// identity; where that is used up it says for how long.
const OPEN_AT_ONCE: usize = 24;

/// No answer stops everybody for longer.
const MAX_HOLD: Duration = Duration::from_secs(300);

/// Lets requests through, as many and as soon as the platform takes them.
#[derive(Debug)]
pub(super) struct Throttle {
    room: Semaphore,
    until: Mutex<Option<Instant>>,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { room: Semaphore::new(OPEN_AT_ONCE), until: Mutex::default() }
    }
}

impl Throttle {
    /// Waits until a request may be sent; the request is open as long as the value lives. `None` never happens while this lives.
    pub(super) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        loop {
            if let Some(until) = self.until() {
                sleep_until(until).await;
            }
            let room = self.room.acquire().await.ok()?;
            if self.until().is_none() {
                return Some(room);
            }
        }
    }

    /// Says that nobody may send anything for a while.
    pub(super) fn hold(&self, time: Duration) {
        let until = Instant::now().checked_add(time.min(MAX_HOLD));
        let mut known = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        *known = (*known).max(until);
    }

    fn until(&self) -> Option<Instant> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.filter(|until| *until > Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_one_is_asked_to_wait_all_wait() {
        let throttle = Throttle::default();
        let begun = Instant::now();
        throttle.hold(Duration::from_secs(7));
        throttle.hold(Duration::from_secs(2));
        let (one, other) = tokio::join!(throttle.enter(), throttle.enter());
        assert!(one.is_some() && other.is_some());
        assert!(begun.elapsed() >= Duration::from_secs(7));
    }

    #[tokio::test(start_paused = true)]
    async fn an_absurd_time_stops_nobody_for_ever() {
        let throttle = Throttle::default();
        let begun = Instant::now();
        throttle.hold(Duration::from_secs(1 << 40));
        drop(throttle.enter().await);
        assert!(begun.elapsed() <= MAX_HOLD + Duration::from_secs(1));
    }
}
