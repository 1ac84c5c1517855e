//! What time alone brings about: messages that were scheduled, words of an agent that are too old.

use crate::state::model::Workspace;
use ghost_base::Timestamp;

impl Workspace {
    /// Notes that something is due at a moment, in milliseconds.
    pub(crate) fn wake_at(&mut self, moment: i64) {
        self.due = self.due.min(moment);
    }

    /// Tells whether something may be due.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        now.as_millis() >= self.due
    }

    /// Does what is due, and finds out when the next thing is.
    pub(crate) fn come_due(&mut self, now: Timestamp) {
        if !self.is_due(now) {
            return;
        }
        self.due = i64::MAX;
        self.post_scheduled(now);
        self.fade(now);
        if let Some(next) = self.scheduled.iter().map(|one| one.post_at.saturating_mul(1000)).min() {
            self.wake_at(next);
        }
    }
}
