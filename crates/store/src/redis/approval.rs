//! Approvals in Redis: read, moved by the pure step, and stored only if nobody moved them meanwhile.

use std::time::Duration;

use async_trait::async_trait;

use crate::port::closed_item;
use crate::redis::connect::Store;
use crate::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Approvals, Consumed, Lease, Opened, Outcome,
    StoreError, Vote, settings,
};
use ghost_base::{SessionId, Timestamp};

/// How many records are read at a time.
const AT_ONCE: usize = 64;

/// An approval, and the text that it was read from.
type Found = (Approval, String);

#[async_trait]
impl Approvals for Store {
    async fn open(&self, record: &ApprovalRecord) -> Result<Opened, StoreError> {
        settings::fits([record.body.as_str(), record.digest.as_str()])?;
        let config = self.keys.approval(&record.id);
        // The index entry is written before the record, so that no record is without one.
        self.ask::<()>(redis::cmd("SET").arg(config).arg(record.session.as_str()).arg("NX")).await?;
        let expires = record.expires_at.as_millis();
        self.ask::<()>(
            redis::cmd("ZADD").arg(self.keys.pending()).arg("NX").arg(expires).arg(record.id.as_str()),
        )
        .await?;
        loop {
            if let Some((before, _)) = self.get(&record.id).await? {
                return Ok(Opened::Before(Box::new(before)));
            }
            if self.session(&record.id).await?.as_ref() != Some(&record.session) {
                return Err(StoreError::corrupt(format!(
                    "approval {} belongs to another session",
                    record.id
                )));
            }
            if self.put("", &Approval::new(record.clone()), None).await? {
                return Ok(Opened::New);
            }
        }
    }

    async fn vote(&self, id: &ApprovalId, vote: &Vote) -> Result<Outcome, StoreError> {
        settings::fits([vote.note.as_str(), vote.key.as_str()])?;
        while let Some((found, text)) = self.get(id).await? {
            let (next, outcome) = found.vote(vote);
            match next {
                Some(next) if !self.put(&text, &next, None).await? => {}
                Some(_) => return Ok(outcome),
                None => {
                    // The vote that ended it may have died before it could say so.
                    self.settle(&found).await?;
                    return Ok(outcome);
                }
            }
        }
        Ok(Outcome::Unknown)
    }

    async fn find(&self, id: &ApprovalId, now: Timestamp) -> Result<Option<Approval>, StoreError> {
        while let Some((found, text)) = self.get(id).await? {
            match found.expire(now) {
                None => return Ok(Some(found)),
                Some(expired) if self.put(&text, &expired, None).await? => return Ok(Some(expired)),
                Some(_) => {}
            }
        }
        Ok(None)
    }

    async fn pending(
        &self,
        session: Option<&SessionId>,
        now: Timestamp,
    ) -> Result<Vec<Approval>, StoreError> {
        let mut pending = Vec::new();
        let waiting = self.waiting("+inf").await?;
        // Many at a time, for there can be thousands, and people wait for them.
        for some in waiting.chunks(AT_ONCE) {
            for found in futures_util::future::join_all(some.iter().map(|id| self.get(id))).await {
                let found = found?.map(|(approval, _)| approval);
                pending.extend(found.filter(|approval| {
                    approval.state == ApprovalState::Pending
                        && approval.expire(now).is_none()
                        && session.is_none_or(|session| *session == approval.record.session)
                }));
            }
        }
        pending.sort_by(|one, other| one.record.id.cmp(&other.record.id));
        Ok(pending)
    }

    async fn sweep(&self, now: Timestamp) -> Result<Vec<ApprovalId>, StoreError> {
        let mut swept = Vec::new();
        for id in self.waiting(&now.as_millis().to_string()).await? {
            let Some((found, text)) = self.get(&id).await? else {
                // Its time is over and it was never written, or it was erased.
                self.forget(&id).await?;
                continue;
            };
            match found.expire(now) {
                Some(expired) => swept.extend(self.put(&text, &expired, None).await?.then_some(id)),
                None => self.settle(&found).await?,
            }
        }
        Ok(swept)
    }

    async fn consume(&self, id: &ApprovalId, lease: &Lease) -> Result<Consumed, StoreError> {
        while let Some((found, text)) = self.get(id).await? {
            let (next, consumed) = found.consume(lease);
            if consumed == Consumed::Unknown {
                return Ok(consumed);
            }
            // Where nothing changes the same text is stored again, so that a stale owner is refused there too.
            if self.put(&text, next.as_ref().unwrap_or(&found), Some(lease)).await? {
                return Ok(consumed);
            }
        }
        Ok(Consumed::Unknown)
    }
}

impl Store {
    async fn session(&self, id: &ApprovalId) -> Result<Option<SessionId>, StoreError> {
        let name: Option<String> = self.ask(redis::cmd("GET").arg(self.keys.approval(id))).await?;
        name.map(|name| name.parse().map_err(|_| StoreError::corrupt("a session's name"))).transpose()
    }

    async fn get(&self, id: &ApprovalId) -> Result<Option<Found>, StoreError> {
        let Some(session) = self.session(id).await? else {
            return Ok(None);
        };
        let text: Option<String> =
            self.ask(redis::cmd("HGET").arg(self.keys.approvals(&session)).arg(id.as_str())).await?;
        text.map(|text| match serde_json::from_str(&text) {
            Ok(approval) => Ok((approval, text)),
            Err(error) => Err(StoreError::corrupt(format!("approval {id}: {error}"))),
        })
        .transpose()
    }

    /// Stores where an approval stands if it still stands where it was read, and tells the session if that is an end.
    async fn put(
        &self,
        before: &str,
        approval: &Approval,
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        let session = &approval.record.session;
        let after =
            serde_json::to_string(approval).map_err(|error| StoreError::corrupt(error.to_string()))?;
        // An owner only uses an approval up, which is no news.
        let ends =
            lease.is_none() && matches!(approval.state, ApprovalState::Decided(_) | ApprovalState::Expired);
        let news = if ends { closed_item(&approval.notice())? } else { String::new() };
        self.mark(session, Duration::ZERO).await?;
        let mut script = self.scripts.change.prepare_invoke();
        script.key(self.keys.approvals(session)).key(self.keys.inbox(session)).key(self.keys.lease(session));
        script.arg(approval.record.id.as_str()).arg(before).arg(after).arg(news);
        script.arg(lease.map_or_else(String::new, |lease| lease.epoch.to_string()));
        let said: String = self.run(&script).await?;
        match said.as_str() {
            "fenced" => Err(StoreError::Fenced),
            "moved" => Ok(false),
            _ => self.settle(approval).await.map(|()| true),
        }
    }

    /// Puts the index right for an approval that is no longer waiting.
    async fn settle(&self, approval: &Approval) -> Result<(), StoreError> {
        if approval.state == ApprovalState::Pending {
            return Ok(());
        }
        self.mark(&approval.record.session, Duration::ZERO).await?;
        self.wake.notify_one();
        self.ask(redis::cmd("ZREM").arg(self.keys.pending()).arg(approval.record.id.as_str())).await
    }

    /// Removes the index entry of an approval that is gone.
    pub(super) async fn forget(&self, id: &ApprovalId) -> Result<(), StoreError> {
        self.ask::<()>(redis::cmd("ZREM").arg(self.keys.pending()).arg(id.as_str())).await?;
        self.ask(redis::cmd("DEL").arg(self.keys.approval(id))).await
    }

    /// Returns the names of what waits for an answer until `end`.
    async fn waiting(&self, end: &str) -> Result<Vec<ApprovalId>, StoreError> {
        let mut command = redis::cmd("ZRANGEBYSCORE");
        command.arg(self.keys.pending()).arg("-inf").arg(end);
        let found: Vec<String> = self.ask(&command).await?;
        found.iter().map(|id| id.parse().map_err(|_| StoreError::corrupt("an approval's name"))).collect()
    }
}
