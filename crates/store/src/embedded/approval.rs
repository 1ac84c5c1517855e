//! Approvals in the file.

use async_trait::async_trait;
use redb::{ReadableTable as _, WriteTransaction};

use crate::embedded::open::Store;
use crate::embedded::table::{APPROVALS, PENDING, broken, head, parse, print, push};
use crate::port::closed_item;
use crate::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Approvals, Consumed, Lease, Opened, Outcome,
    StoreError, Vote, settings,
};
use ghost_base::{SessionId, Timestamp};

#[async_trait]
impl Approvals for Store {
    async fn open(&self, record: &ApprovalRecord) -> Result<Opened, StoreError> {
        settings::fits([record.body.as_str(), record.digest.as_str()])?;
        let record = record.clone();
        self.write(move |write, now| {
            if let Some(before) = get(write, &record.id)? {
                return Ok(Opened::Before(Box::new(before)));
            }
            put(write, &Approval::new(record), now)?;
            Ok(Opened::New)
        })
        .await
    }

    async fn vote(&self, id: &ApprovalId, vote: &Vote) -> Result<Outcome, StoreError> {
        settings::fits([vote.note.as_str(), vote.key.as_str()])?;
        let (id, vote) = (id.clone(), vote.clone());
        let outcome = self
            .write(move |write, now| {
                let Some(found) = get(write, &id)? else {
                    return Ok(Outcome::Unknown);
                };
                let (next, outcome) = found.vote(&vote);
                next.map_or(Ok(()), |next| put(write, &next, now))?;
                Ok(outcome)
            })
            .await?;
        self.wake.notify_one();
        Ok(outcome)
    }

    async fn find(&self, id: &ApprovalId, now: Timestamp) -> Result<Option<Approval>, StoreError> {
        let id = id.clone();
        self.write(move |write, clock| {
            let Some(found) = get(write, &id)? else {
                return Ok(None);
            };
            match found.expire(now) {
                Some(expired) => put(write, &expired, clock).map(|()| Some(expired)),
                None => Ok(Some(found)),
            }
        })
        .await
    }

    async fn pending(
        &self,
        session: Option<&SessionId>,
        now: Timestamp,
    ) -> Result<Vec<Approval>, StoreError> {
        let session = session.cloned();
        self.look(move |read| {
            let pending = read.open_table(PENDING).map_err(broken)?;
            let approvals = read.open_table(APPROVALS).map_err(broken)?;
            let mut found = Vec::new();
            for row in pending.iter().map_err(broken)? {
                let (id, owner) = row.map_err(broken)?;
                if session.as_ref().is_some_and(|session| session.as_str() != owner.value()) {
                    continue;
                }
                if let Some(text) = approvals.get(id.value()).map_err(broken)? {
                    found.push(parse::<Approval>(text.value())?);
                }
            }
            found.retain(|approval| approval.expire(now).is_none());
            Ok(found)
        })
        .await
    }

    async fn sweep(&self, now: Timestamp) -> Result<Vec<ApprovalId>, StoreError> {
        let swept = self
            .write(move |write, clock| {
                let mut over = Vec::new();
                for row in write.open_table(PENDING).map_err(broken)?.iter().map_err(broken)? {
                    let (id, _) = row.map_err(broken)?;
                    let id = id.value().parse().map_err(|_| StoreError::corrupt("an approval's name"))?;
                    over.extend(get(write, &id)?.and_then(|approval| approval.expire(now)));
                }
                over.iter().try_for_each(|expired| put(write, expired, clock))?;
                Ok(over.into_iter().map(|expired| expired.record.id).collect::<Vec<_>>())
            })
            .await?;
        self.wake.notify_one();
        Ok(swept)
    }

    async fn consume(&self, id: &ApprovalId, lease: &Lease) -> Result<Consumed, StoreError> {
        let (id, lease) = (id.clone(), lease.clone());
        self.write(move |write, now| {
            head(write, &lease.session)?.check(&lease, now)?;
            let Some(found) = get(write, &id)? else {
                return Ok(Consumed::Unknown);
            };
            let (next, consumed) = found.consume(&lease);
            next.map_or(Ok(()), |next| put(write, &next, now))?;
            Ok(consumed)
        })
        .await
    }
}

fn get(write: &WriteTransaction, id: &ApprovalId) -> Result<Option<Approval>, StoreError> {
    let approvals = write.open_table(APPROVALS).map_err(broken)?;
    let text = approvals.get(id.as_str()).map_err(broken)?;
    text.map(|text| parse(text.value())).transpose()
}

/// Stores where an approval stands, and tells the session if that is an end.
fn put(write: &WriteTransaction, approval: &Approval, now: Timestamp) -> Result<(), StoreError> {
    let (id, session) = (approval.record.id.as_str(), &approval.record.session);
    let mut approvals = write.open_table(APPROVALS).map_err(broken)?;
    approvals.insert(id, print(approval)?.as_str()).map_err(broken)?;
    let mut pending = write.open_table(PENDING).map_err(broken)?;
    match approval.state {
        ApprovalState::Pending => pending.insert(id, session.as_str()).map(drop).map_err(broken),
        ApprovalState::Consumed { .. } => Ok(()),
        ApprovalState::Decided(_) | ApprovalState::Expired => {
            pending.remove(id).map_err(broken)?;
            push(write, session, &closed_item(&approval.notice())?, now)
        }
    }
}
