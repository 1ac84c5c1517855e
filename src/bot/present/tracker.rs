//! Tracks what messages show in Slack: no message is ever changed back to something older.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use ghost_base::Digest;
use ghost_slack::web::{CallError, Message, Posted, UpdateOutcome, Web};

/// A message changes once in this time: nobody reads faster, and Slack counts each change.
const MIN_CHANGE_INTERVAL: Duration = Duration::from_secs(1);

/// Of so many messages it is remembered what they show.
const MAX_TRACKED_MESSAGES: usize = 10_000;

/// A message that has not changed for so long belongs to a session that goes on elsewhere, or not at all. Whoever changes it
/// then reads it first.
const TRACKED_FOR: Duration = Duration::from_secs(3600);

/// The messages that stand.
#[derive(Default)]
pub(super) struct MessageTracker(Mutex<HashMap<Posted, Tracked>>);

#[derive(Default)]
struct Tracked {
    /// The number of the newest change that somebody wants.
    newest: u64,
    /// What is shown, as far as it is known: nothing while a call runs.
    shown: Option<Digest>,
    /// When it was changed last.
    changed: Option<Instant>,
}

/// A change that waits for its turn.
pub(super) struct Change {
    posted: Posted,
    number: u64,
    message: Message,
    digest: Digest,
}

impl MessageTracker {
    /// Says that a message is to become another one. Whoever said so before has been overtaken.
    pub(super) fn want(&self, posted: Posted, message: Message, digest: Digest) -> Change {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.entry(posted.clone()).or_default();
        row.newest += 1;
        Change { posted, number: row.newest, message, digest }
    }

    /// Waits until a message has stood for a moment. What is wanted meanwhile overtakes the change.
    pub(super) async fn wait_for_interval(&self, change: &Change) {
        let changed = {
            let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            rows.get(&change.posted).and_then(|row| row.changed)
        };
        sleep(rest_of(changed)).await;
    }

    /// Tells whether somebody wants something newer, or nothing any more.
    pub(super) fn is_overtaken(&self, change: &Change) -> bool {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.get(&change.posted).is_none_or(|row| row.newest != change.number)
    }

    /// Tells whether a message may still change.
    pub(super) fn knows(&self, posted: &Posted) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(posted)
    }

    /// Makes a change, unless it was overtaken or shows what stands there already. It waits in the line of calls and nowhere before
    /// it, so that a newer one can take its place there, and one that is urgent goes first.
    pub(super) async fn show(&self, web: &Web, change: Change) -> Result<UpdateOutcome, CallError> {
        loop {
            if let Some(done) = self.begin(&change) {
                return Ok(done);
            }
            if web.update(&change.posted, &change.message).await? == UpdateOutcome::Now {
                self.finish(&change);
                return Ok(UpdateOutcome::Now);
            }
            // An older one that stood up late may have taken its place; then it is not overtaken.
        }
    }

    /// Says what became of a change for which there is nothing to do.
    fn begin(&self, change: &Change) -> Option<UpdateOutcome> {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(row) = rows.get_mut(&change.posted).filter(|row| row.newest == change.number) else {
            return Some(UpdateOutcome::Replaced);
        };
        if row.shown == Some(change.digest) {
            return Some(UpdateOutcome::Now);
        }
        (row.shown, row.changed) = (None, Some(Instant::now()));
        None
    }

    /// Notes what is shown, unless a newer change is waiting.
    fn finish(&self, change: &Change) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = rows.get_mut(&change.posted).filter(|row| row.newest == change.number) {
            row.shown = Some(change.digest);
        }
    }

    /// Tells whether exactly this is shown, as far as is known here.
    pub(super) fn shows(&self, posted: &Posted, digest: Digest) -> Option<bool> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.get(posted)?;
        // A change that still waits would make it something else.
        Some(row.shown == Some(digest))
    }

    /// Notes what was posted.
    pub(super) fn note(&self, posted: &Posted, shown: Option<Digest>) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.entry(posted.clone()).or_default();
        row.shown = shown;
        row.changed = Some(Instant::now());
        if rows.len() > MAX_TRACKED_MESSAGES {
            rows.retain(|_, row| row.changed.is_some_and(|changed| changed.elapsed() < TRACKED_FOR));
        }
    }

    /// Forgets a message that will not change any more.
    pub(super) fn forget(&self, posted: &Posted) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(posted);
    }
}

/// Returns how much of a moment is left.
pub(super) fn rest_of(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| MIN_CHANGE_INTERVAL.saturating_sub(since.elapsed()))
}
