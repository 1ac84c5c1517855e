//! Whether the loops of this process still turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Knows the loops of this process and when each of them last turned.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<Mutex<Loops>>);

#[derive(Debug, Default)]
struct Loops {
    next: u64,
    all: Vec<Loop>,
}

#[derive(Debug)]
struct Loop {
    number: u64,
    name: &'static str,
    within: Duration,
    last: Instant,
    lost: bool,
}

impl Pulse {
    /// Begins to watch a loop, which has to turn at least that often.
    ///
    /// A loop of the same name that was lost is forgotten: this one stands in for it.
    #[must_use]
    pub fn watch(&self, name: &'static str, within: Duration) -> Beat {
        let mut loops = self.lock();
        loops.all.retain(|known| !(known.lost && known.name == name));
        let number = loops.next;
        loops.next += 1;
        loops.all.push(Loop { number, name, within, last: Instant::now(), lost: false });
        Beat { pulse: self.clone(), number, ended: false }
    }

    /// Returns the loops that were lost or have not turned in time, by name.
    #[must_use]
    pub fn silent(&self) -> Vec<&'static str> {
        let now = Instant::now();
        let mut names: Vec<_> = self
            .lock()
            .all
            .iter()
            .filter(|known| known.lost || now.saturating_duration_since(known.last) > known.within)
            .map(|known| known.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn lock(&self) -> MutexGuard<'_, Loops> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A loop's side of it. Dropped without [`Beat::end`], as in a panic, the loop counts as lost.
#[derive(Debug)]
pub struct Beat {
    pulse: Pulse,
    number: u64,
    ended: bool,
}

impl Beat {
    /// Says that the loop turned.
    pub fn now(&self) {
        let mut loops = self.pulse.lock();
        if let Some(known) = loops.all.iter_mut().find(|known| known.number == self.number) {
            known.last = Instant::now();
        }
    }

    /// Says that the loop is over, as it should be.
    pub fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Beat {
    fn drop(&mut self) {
        let mut loops = self.pulse.lock();
        if self.ended {
            loops.all.retain(|known| known.number != self.number);
        } else if let Some(known) = loops.all.iter_mut().find(|known| known.number == self.number) {
            known.lost = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_turns_lives() {
        let pulse = Pulse::default();
        let beat = pulse.watch("worker", WITHIN);
        tokio::time::advance(WITHIN).await;
        beat.now();
        tokio::time::advance(WITHIN).await;
        assert_eq!(pulse.silent(), Vec::<&str>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_stands_still_is_named() {
        let pulse = Pulse::default();
        let still = pulse.watch("worker", WITHIN);
        let turns = pulse.watch("sockets", WITHIN);
        tokio::time::advance(WITHIN + Duration::from_millis(1)).await;
        turns.now();
        assert_eq!(pulse.silent(), ["worker"]);
        still.now();
        assert_eq!(pulse.silent(), Vec::<&str>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_vanishes_is_lost_until_another_stands_in() {
        let pulse = Pulse::default();
        drop(pulse.watch("worker", WITHIN));
        drop(pulse.watch("worker", WITHIN));
        assert_eq!(pulse.silent(), ["worker"]);
        let again = pulse.watch("worker", WITHIN);
        assert_eq!(pulse.silent(), Vec::<&str>::new());
        again.end();
        tokio::time::advance(2 * WITHIN).await;
        assert_eq!(pulse.silent(), Vec::<&str>::new());
    }
}
