//! Flags, and a line about each session, in Redis: strings, and a hash beside a set in order of time.

use std::collections::HashMap;

use async_trait::async_trait;

use crate::redis::connect::Store;
use crate::{DurabilityGap, SharedState, StoreError, settings};
use ghost_base::{SessionId, Timestamp};

#[async_trait]
impl SharedState for Store {
    async fn flag(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        self.ask(redis::cmd("GET").arg(self.keys.flag(name))).await
    }

    async fn set_flag(&self, name: &'static str, value: Option<&str>) -> Result<(), StoreError> {
        settings::fits(value)?;
        match value {
            Some(value) => self.ask(redis::cmd("SET").arg(self.keys.flag(name)).arg(value)).await,
            None => self.ask(redis::cmd("DEL").arg(self.keys.flag(name))).await,
        }
    }

    async fn post(&self, session: &SessionId, line: &str, at: Timestamp) -> Result<(), StoreError> {
        settings::fits([line])?;
        // The text first: a name without a text is passed over, a text without a name is overwritten or erased.
        let (texts, names) = (self.keys.lines(), self.keys.wall());
        let _: u64 = self.ask(redis::cmd("HSET").arg(texts).arg(session.as_str()).arg(line)).await?;
        let mut order = redis::cmd("ZADD");
        self.ask::<u64>(order.arg(names).arg(at.as_millis()).arg(session.as_str())).await.map(drop)
    }

    async fn note(&self, expected: u64, line: &str) -> Result<(), StoreError> {
        settings::fits([line])?;
        let mut script = self.scripts.note.prepare_invoke();
        script.key(self.keys.journal()).arg(expected).arg(line);
        match self.run::<Vec<u64>>(&script).await?.first() {
            None => Ok(()),
            Some(length) => Err(StoreError::LengthMismatch { length: *length }),
        }
    }

    async fn notes(&self, limit: usize) -> Result<(u64, Vec<String>), StoreError> {
        let key = self.keys.journal();
        // The length first: where a line is added in between, whoever writes behind the length is refused.
        let length = self.ask(redis::cmd("LLEN").arg(&key)).await?;
        let first = i64::try_from(limit).unwrap_or(i64::MAX).saturating_neg();
        let mut range = redis::cmd("LRANGE");
        range.arg(&key).arg(first).arg(-1);
        let lines = if limit == 0 { Vec::new() } else { self.ask(&range).await? };
        Ok((length, lines))
    }

    async fn posted(&self, limit: usize) -> Result<Vec<(SessionId, String)>, StoreError> {
        let mut command = redis::cmd("ZRANGE");
        let last = i64::try_from(limit).unwrap_or(i64::MAX) - 1;
        command.arg(self.keys.wall()).arg(0).arg(last.max(0)).arg("REV");
        let names: Vec<String> = if limit == 0 { Vec::new() } else { self.ask(&command).await? };
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let texts: Vec<Option<String>> =
            self.ask(redis::cmd("HMGET").arg(self.keys.lines()).arg(&names)).await?;
        let rows = names.iter().zip(texts).filter_map(|(name, text)| Some((name, text?)));
        rows.map(|(name, text)| match name.parse() {
            Ok(session) => Ok((session, text)),
            Err(_) => Err(StoreError::corrupt("a session's name")),
        })
        .collect()
    }

    async fn durability_gaps(&self) -> Result<Vec<DurabilityGap>, StoreError> {
        let mut settings = HashMap::new();
        // One at a time: several in one call need Redis 7.
        for name in ["appendonly", "appendfsync", "maxmemory-policy"] {
            match self.ask::<HashMap<String, String>>(redis::cmd("CONFIG").arg("GET").arg(name)).await {
                Ok(found) => settings.extend(found),
                // Who manages the server for others lets nobody read them.
                Err(_) => return Ok(vec![DurabilityGap::Unreadable]),
            }
        }
        Ok(DurabilityGap::of(|name| settings.get(name).cloned()))
    }
}

impl Store {
    /// Takes the line about a session down.
    pub(super) async fn take_down(&self, session: &SessionId) -> Result<(), StoreError> {
        let _: u64 = self.ask(redis::cmd("ZREM").arg(self.keys.wall()).arg(session.as_str())).await?;
        self.ask::<u64>(redis::cmd("HDEL").arg(self.keys.lines()).arg(session.as_str())).await.map(drop)
    }
}
