//! The line of work in the file.

use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{SessionId, Timestamp};
use redb::{ReadableTable, ReadableTableMetadata as _, WriteTransaction};
use tokio::time::{Instant, timeout_at};

use crate::embedded::open::Store;
use crate::embedded::table::{ITEMS, PENDING, SEEN, WORK, broken, head, name, push, set_work};
use crate::port::{delivered_item, parse_item};
use crate::settings::millis;
use crate::{Backlog, Delivered, Dispatch, Inbox, Item, StoreError, settings};

#[async_trait]
impl Dispatch for Store {
    async fn next_work(&self, _owner: &str, wait: Duration) -> Result<Option<SessionId>, StoreError> {
        let deadline = Instant::now() + wait;
        loop {
            let woken = self.wake.notified();
            let now = self.now();
            // Looking costs no write; taking does.
            let due = self.look(move |read| first(&read.open_table(WORK).map_err(broken)?)).await?;
            if due.as_ref().is_some_and(|(at, _)| *at <= now.as_millis()) {
                let claim = self.settings.claim;
                if let Some(session) = self.write(move |write, now| take(write, now, claim)).await? {
                    // There may be more, for others that wait.
                    self.wake.notify_one();
                    return Ok(Some(session));
                }
                continue;
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            let until = deadline.min(Instant::now() + self.settings.poll);
            drop(timeout_at(until, woken).await);
        }
    }

    async fn backlog(&self) -> Result<Backlog, StoreError> {
        let now = self.now().as_millis();
        self.look(move |read| {
            let mut backlog = Backlog::default();
            for row in read.open_table(WORK).map_err(broken)?.iter().map_err(broken)? {
                let (_, at) = row.map_err(broken)?;
                backlog.queued += u64::from(at.value() <= now);
            }
            backlog.asked = read.open_table(PENDING).map_err(broken)?.len().map_err(broken)?;
            Ok(backlog)
        })
        .await
    }
}

fn first(work: &impl ReadableTable<&'static str, i64>) -> Result<Option<(i64, String)>, StoreError> {
    let mut first: Option<(i64, String)> = None;
    for row in work.iter().map_err(broken)? {
        let (session, at) = row.map_err(broken)?;
        if first.as_ref().is_none_or(|(earliest, _)| at.value() < *earliest) {
            first = Some((at.value(), session.value().to_owned()));
        }
    }
    Ok(first)
}

/// Takes the session that has waited longest; index entries without work are removed meanwhile.
fn take(write: &WriteTransaction, now: Timestamp, claim: Duration) -> Result<Option<SessionId>, StoreError> {
    loop {
        let due = first(&write.open_table(WORK).map_err(broken)?)?;
        let Some((_, session)) = due.filter(|(at, _)| *at <= now.as_millis()) else {
            return Ok(None);
        };
        let session = name(&session)?;
        let head = head(write, &session)?;
        if head.is_owned(now) {
            set_work(write, &session, head.until)?;
        } else if head.until.is_some()
            || head.next > head.first
            || head.alarm.is_some_and(|at| at <= now.as_millis())
        {
            set_work(write, &session, Some(now.as_millis().saturating_add(millis(claim).max(1))))?;
            return Ok(Some(session));
        } else {
            set_work(write, &session, head.alarm)?;
        }
    }
}

#[async_trait]
impl Inbox for Store {
    async fn deliver(&self, session: &SessionId, key: &str, item: &str) -> Result<Delivered, StoreError> {
        settings::fits([key, item])?;
        let (session, key, item) = (session.clone(), key.to_owned(), delivered_item(item));
        let remember = self.settings.remember();
        let delivered = self
            .write(move |write, now| {
                let mut seen = write.open_table(SEEN).map_err(broken)?;
                let text = session.as_str();
                let end = format!("{text}\0");
                let now_ms = now.as_millis();
                seen.retain_in((text, "")..(end.as_str(), ""), |_, until| until > now_ms).map_err(broken)?;
                if seen.get((text, key.as_str())).map_err(broken)?.is_some() {
                    return Ok(Delivered::Seen);
                }
                seen.insert((text, key.as_str()), now.plus(remember).as_millis()).map_err(broken)?;
                push(write, &session, &item, now)?;
                Ok(Delivered::New)
            })
            .await?;
        self.wake.notify_one();
        Ok(delivered)
    }

    async fn inbox(&self, session: &SessionId) -> Result<Vec<Item>, StoreError> {
        let session = session.clone();
        self.look(move |read| {
            let items = read.open_table(ITEMS).map_err(broken)?;
            let rows = items.range((session.as_str(), 0)..=(session.as_str(), u64::MAX)).map_err(broken)?;
            rows.map(|row| row.map_err(broken).and_then(|(_, text)| parse_item(text.value()))).collect()
        })
        .await
    }
}
