//! What stands in Slack: every message is changed by one call at a time, and never back to something older.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Mutex as Gate;

use crate::base::Digest;
use crate::slack::pace::Priority;
use crate::slack::web::{CallError, Message, Posted, Shown, Web};

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

    /// Makes a change, unless it was overtaken or shows what stands there already.
    pub(super) async fn show(&self, web: &Web, change: Change) -> Result<Shown, CallError> {
        // Only boards wait for one another here. Whatever is more urgent must not wait behind a board that waits for its turn: it
        // goes to the line at once, takes that board's place there, and the line keeps calls of one message in order.
        let turn = match web.priority() {
            Priority::Board => Some(change.gate.lock().await),
            Priority::Approval | Priority::Report | Priority::Other => None,
        };
        if self.read(&change.posted, |row| row.newest != change.number) {
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
        rows.entry(posted.clone()).or_default().shown = shown;
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
