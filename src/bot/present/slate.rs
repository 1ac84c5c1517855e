//! What stands in Slack: every message is changed by one call at a time, and never back to something older.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex as Gate;
use tokio::time::{Instant, sleep};

use crate::base::Digest;
use crate::slack::web::{CallError, Message, Posted, Shown, Web};

/// A message that tells where something stands changes once in this time: nobody reads faster, and Slack counts each change.
const BREATH: Duration = Duration::from_secs(1);

/// The messages that stand.
#[derive(Default)]
pub(super) struct Slate(Mutex<HashMap<Posted, Row>>);

#[derive(Default)]
struct Row {
    /// The number of the newest change that somebody wants.
    newest: u64,
    /// What is shown, as far as it is known.
    shown: Option<Digest>,
    gate: Arc<Gate<()>>,
    /// When it was changed last.
    changed: Option<Instant>,
}

/// A change that waits for its turn.
pub(super) struct Change {
    posted: Posted,
    number: u64,
    gate: Arc<Gate<()>>,
    message: Message,
    digest: Digest,
}

impl Slate {
    /// Says that a message is to become another one. Whoever said so before has been overtaken.
    pub(super) fn want(&self, posted: Posted, message: Message, digest: Digest) -> Change {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.entry(posted.clone()).or_default();
        row.newest += 1;
        Change { posted, number: row.newest, gate: Arc::clone(&row.gate), message, digest }
    }

    /// Waits until a message has stood for a moment. What is wanted meanwhile overtakes the change.
    pub(super) async fn breathe(&self, change: &Change) {
        let changed = self.read(&change.posted, |row| row.changed);
        sleep(rest_of(changed)).await;
    }

    /// Makes a change, unless it was overtaken or shows what stands there already.
    pub(super) async fn show(&self, web: &Web, change: Change) -> Result<Shown, CallError> {
        let turn = change.gate.lock().await;
        // What was forgotten meanwhile has had its last look.
        if !self.read(&change.posted, |row| row.newest == change.number) {
            return Ok(Shown::Replaced);
        }
        if self.read(&change.posted, |row| row.shown == Some(change.digest)) {
            return Ok(Shown::Now);
        }
        // While the call is under way nobody knows what is shown.
        self.note(&change.posted, None);
        let shown = web.update(&change.posted, &change.message).await?;
        if shown == Shown::Now {
            self.note(&change.posted, Some(change.digest));
        }
        drop(turn);
        Ok(shown)
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
    }

    /// Forgets a message that will not change any more.
    pub(super) fn forget(&self, posted: &Posted) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(posted);
    }

    fn read<T: Default>(&self, posted: &Posted, look: impl FnOnce(&Row) -> T) -> T {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.get(posted).map(look).unwrap_or_default()
    }
}

/// Returns how much of a moment is left.
pub(super) fn rest_of(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| BREATH.saturating_sub(since.elapsed()))
}
