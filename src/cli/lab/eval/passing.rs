//! Waiting, where the lab's clock goes forward instead.

use async_trait::async_trait;

use crate::session::Sleep;
use ghost_base::{Clock as _, Timestamp};
use ghost_lab::LabClock;

/// Lets the time pass that somebody would wait.
#[derive(Debug, Clone)]
pub(super) struct SkippingSleep(LabClock);

impl SkippingSleep {
    /// Puts this clock forward.
    pub(super) fn by(clock: LabClock) -> Self {
        Self(clock)
    }
}

#[async_trait]
impl Sleep for SkippingSleep {
    async fn until(&self, at: Timestamp) {
        self.0.pass(at.since(self.0.now()));
    }
}
