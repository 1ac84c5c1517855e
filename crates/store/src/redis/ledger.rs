//! Events in Redis: a list a session.

use std::time::Duration;

use async_trait::async_trait;

use crate::redis::connect::Store;
use crate::{Lease, Ledger, StoreError, settings};
use ghost_base::{SessionId, Timestamp};

/// How many lines one answer brings: it has to come before the connection loses patience.
const PAGE: usize = 256;

#[async_trait]
impl Ledger for Store {
    async fn append(
        &self,
        lease: &Lease,
        expected: u64,
        events: &[String],
        drained: u64,
    ) -> Result<u64, StoreError> {
        settings::fits(events.iter().map(String::as_str))?;
        let mut script = self.scripts.append.prepare_invoke();
        script.key(self.keys.lease(&lease.session)).key(self.keys.events(&lease.session));
        script.key(self.keys.inbox(&lease.session)).arg(lease.epoch).arg(expected).arg(drained);
        for event in events {
            script.arg(event.as_str());
        }
        let (said, number): (String, u64) = self.run(&script).await?;
        match said.as_str() {
            "done" => Ok(number),
            "moved" => Err(StoreError::LengthMismatch { length: number }),
            "overdrawn" => Err(StoreError::InboxTooShort { held: number }),
            "fenced" => Err(StoreError::Fenced),
            _ => Err(StoreError::corrupt(format!("an append answered {said:?}"))),
        }
    }

    async fn read(&self, session: &SessionId, from: u64) -> Result<Vec<String>, StoreError> {
        let mut events = Vec::new();
        loop {
            let start = from.saturating_add(u64::try_from(events.len()).unwrap_or(u64::MAX));
            // Redis counts with a sign.
            if i64::try_from(start).is_err() {
                return Ok(events);
            }
            let end = start.saturating_add(PAGE as u64 - 1).min(i64::MAX.unsigned_abs());
            let mut command = redis::cmd("LRANGE");
            command.arg(self.keys.events(session)).arg(start).arg(end);
            let page: Vec<String> = self.ask(&command).await?;
            let is_last = page.len() < PAGE;
            events.extend(page);
            if is_last {
                return Ok(events);
            }
        }
    }

    async fn length(&self, session: &SessionId) -> Result<u64, StoreError> {
        self.ask(redis::cmd("LLEN").arg(self.keys.events(session))).await
    }

    async fn list(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionId>, StoreError> {
        let from = after.map_or_else(|| "-".to_owned(), |after| format!("({after}"));
        let mut command = redis::cmd("ZRANGEBYLEX");
        command.arg(self.keys.sessions()).arg(from).arg("+").arg("LIMIT").arg(0).arg(limit);
        let found: Vec<String> = self.ask(&command).await?;
        found.iter().map(|name| name.parse().map_err(|_| StoreError::corrupt("a session's name"))).collect()
    }

    async fn erase(&self, session: &SessionId, keep: &[String]) -> Result<(), StoreError> {
        settings::fits(keep.iter().map(String::as_str))?;
        self.clear(session, "all", keep).await.map(drop)
    }

    async fn expire(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.ask(redis::cmd("ZADD").arg(self.keys.expiry()).arg(at.as_millis()).arg(session.as_str())).await
    }

    async fn erase_expired(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        let mut command = redis::cmd("ZRANGEBYSCORE");
        command.arg(self.keys.expiry()).arg("-inf").arg(now.as_millis());
        let due: Vec<String> = self.ask(&command).await?;
        let mut erased = Vec::new();
        for name in due {
            let session = name.parse().map_err(|_| StoreError::corrupt("a session's name"))?;
            if self.clear(&session, "unowned", &[]).await? {
                erased.push(session);
            }
        }
        Ok(erased)
    }
}

impl Store {
    /// Takes the session away first and its entries after: what a crash leaves over is found empty and removed.
    async fn clear(&self, session: &SessionId, which: &str, keep: &[String]) -> Result<bool, StoreError> {
        let mut script = self.scripts.erase.prepare_invoke();
        script.key(self.keys.lease(session)).key(self.keys.events(session)).key(self.keys.inbox(session));
        script.key(self.keys.seen(session)).key(self.keys.approvals(session)).arg(which);
        for line in keep {
            script.arg(line.as_str());
        }
        let Some(approvals) = self.run::<Option<Vec<String>>>(&script).await? else {
            return Ok(false);
        };
        for id in approvals {
            let id = id.parse().map_err(|_| StoreError::corrupt("an approval's name"))?;
            self.forget(&id).await?;
        }
        self.take_down(session).await?;
        self.unlist(session, self.keys.expiry()).await?;
        if keep.is_empty() {
            self.unlist(session, self.keys.sessions()).await?;
        }
        // The line of work is left alone: a worker that finds nothing to do takes the entry out, unless it was marked meanwhile.
        if self.holds_something(session).await? {
            self.mark(session, Duration::ZERO).await?;
        }
        Ok(true)
    }

    async fn unlist(&self, session: &SessionId, index: String) -> Result<(), StoreError> {
        self.ask(redis::cmd("ZREM").arg(index).arg(session.as_str())).await
    }

    /// Whether there are lines, or anything that came between the removal of a session and that of its name.
    async fn holds_something(&self, session: &SessionId) -> Result<bool, StoreError> {
        let keys = [self.keys.events(session), self.keys.inbox(session), self.keys.approvals(session)];
        let lists: u64 = self.ask(redis::cmd("EXISTS").arg(&keys)).await?;
        let lease = self.keys.lease(session);
        Ok(lists > 0 || self.ask(redis::cmd("HEXISTS").arg(lease).arg("until")).await?)
    }
}
