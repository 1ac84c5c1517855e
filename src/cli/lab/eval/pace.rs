//! How long everything takes that is no command: deciding, judging, recording.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use ghost_shell::{CancelSignal, ExecError, Output, Permit, Runner, Setting};

/// Runs as another one does, and measures the time between the end of a command and the beginning of the next.
pub(super) struct TimedRunner {
    inner: Arc<dyn Runner>,
    clock: Mutex<Between>,
}

struct Between {
    since: Instant,
    gaps: Vec<Duration>,
}

impl TimedRunner {
    /// Begins to measure.
    pub(super) fn new(inner: Arc<dyn Runner>) -> Self {
        Self { inner, clock: Mutex::new(Between { since: Instant::now(), gaps: Vec::new() }) }
    }

    /// Returns the median in milliseconds; nothing where no command ran.
    pub(super) fn median(&self) -> Option<f64> {
        median(self.clock.lock().unwrap_or_else(PoisonError::into_inner).gaps.clone())
    }

    fn note(&self, of: impl FnOnce(&mut Between)) {
        of(&mut self.clock.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Returns the median in milliseconds, with microseconds behind the point.
fn median(mut gaps: Vec<Duration>) -> Option<f64> {
    gaps.sort_unstable();
    let half = gaps.len() / 2;
    let (low, high) = (
        gaps.get(half.checked_sub(1).filter(|_| gaps.len().is_multiple_of(2)).unwrap_or(half))?,
        gaps.get(half)?,
    );
    Some(((low.as_secs_f64() + high.as_secs_f64()) * 500_000.0).round() / 1_000.0)
}

#[async_trait]
impl Runner for TimedRunner {
    fn starts_processes(&self) -> bool {
        self.inner.starts_processes()
    }

    fn brings_identity(&self, permit: &Permit, setting: &Setting) -> bool {
        self.inner.brings_identity(permit, setting)
    }

    fn begin_turn(&self, turn: Option<u64>) {
        self.inner.begin_turn(turn);
    }

    async fn run(
        &self,
        permit: Permit,
        setting: &Setting,
        cancel: CancelSignal,
    ) -> Result<Output, ExecError> {
        self.note(|between| between.gaps.push(between.since.elapsed()));
        let done = self.inner.run(permit, setting, cancel).await;
        self.note(|between| between.since = Instant::now());
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_steps_take_longer_than_the_median() {
        let of = |list: &[u64]| median(list.iter().copied().map(Duration::from_micros).collect());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1_500]), Some(1.5));
        assert_eq!(of(&[9_000, 1_000, 2_000]), Some(2.0));
        assert_eq!(of(&[1_000, 4_000, 2_000, 90_000]), Some(3.0));
    }
}
