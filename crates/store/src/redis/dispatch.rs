//! The line of work in Redis: an index by time, checked against each session before it is believed.

use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock as _, SessionId, SystemClock};
use tokio::time::{Instant, timeout_at};

use crate::port::{delivered_item, parse_item};
use crate::redis::connect::Store;
use crate::settings::millis;
use crate::{Backlog, Delivered, Dispatch, Inbox, Item, StoreError, settings};

#[async_trait]
impl Dispatch for Store {
    async fn next_work(&self, _owner: &str, wait: Duration) -> Result<Option<SessionId>, StoreError> {
        let deadline = Instant::now() + wait;
        loop {
            let woken = self.wake.notified();
            if let Some(session) = self.take().await? {
                return Ok(Some(session));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            let until = deadline.min(Instant::now() + self.settings.poll);
            drop(timeout_at(until, woken).await);
        }
    }

    async fn backlog(&self) -> Result<Backlog, StoreError> {
        // Moments of the server, as near as our clock knows them: it is a figure, nothing hangs on it.
        let now = SystemClock.now().as_millis();
        let mut due = redis::cmd("ZCOUNT");
        due.arg(self.keys.work()).arg("-inf").arg(now);
        let queued = self.ask(&due).await?;
        let asked = self.ask(redis::cmd("ZCARD").arg(self.keys.pending())).await?;
        Ok(Backlog { queued, asked })
    }
}

impl Store {
    /// Takes the session that has waited longest; index entries without work are removed meanwhile.
    async fn take(&self) -> Result<Option<SessionId>, StoreError> {
        loop {
            let mut script = self.scripts.claim.prepare_invoke();
            script.key(self.keys.work()).arg(millis(self.settings.claim).max(1));
            let claim: Vec<String> = self.run(&script).await?;
            let [name, hidden] = claim.as_slice() else {
                return Ok(None);
            };
            let session = name.parse().map_err(|_| StoreError::corrupt("a session's name"))?;
            let mut script = self.scripts.peek.prepare_invoke();
            script.key(self.keys.lease(&session)).key(self.keys.inbox(&session));
            let (said, ends): (String, String) = self.run(&script).await?;
            if said == "wanted" {
                return Ok(Some(session));
            }
            let mut script = self.scripts.settle.prepare_invoke();
            script.key(self.keys.work()).arg(name).arg(hidden).arg(ends);
            self.run::<()>(&script).await?;
        }
    }
}

#[async_trait]
impl Inbox for Store {
    async fn deliver(&self, session: &SessionId, key: &str, item: &str) -> Result<Delivered, StoreError> {
        settings::fits([key, item])?;
        let mut script = self.scripts.deliver.prepare_invoke();
        script.key(self.keys.seen(session)).key(self.keys.inbox(session));
        script.arg(key).arg(delivered_item(item)).arg(millis(self.settings.remember()));
        // Side by side, as a server that syncs every write makes each round trip expensive. Whoever dies in between has
        // acknowledged nothing, and is asked again.
        let (marked, is_new) = tokio::join!(self.mark(session, Duration::ZERO), self.run::<bool>(&script));
        let is_new = is_new?;
        marked?;
        // A worker may have looked before the item was there. Also where it was seen: the first time the answer may have got lost
        // before this line.
        self.mark(session, Duration::ZERO).await?;
        self.wake.notify_one();
        Ok(if is_new { Delivered::New } else { Delivered::Seen })
    }

    async fn inbox(&self, session: &SessionId) -> Result<Vec<Item>, StoreError> {
        let items: Vec<String> =
            self.ask(redis::cmd("LRANGE").arg(self.keys.inbox(session)).arg(0).arg(-1)).await?;
        items.iter().map(|text| parse_item(text)).collect()
    }
}
