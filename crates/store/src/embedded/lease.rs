//! Owners in the file.

use std::time::Duration;

use async_trait::async_trait;
use redb::{ReadableTable as _, WriteTransaction};

use crate::embedded::ledger::next_epoch;
use crate::embedded::open::Store;
use crate::embedded::table::{HEADS, Head, WORK, broken, head, name, parse, set_head, set_work};
use crate::{Lease, Leases, StoreError};
use ghost_base::{SessionId, Timestamp};

/// The end of a lease whose owner is known to be dead: before any clock.
const ENDED: i64 = i64::MIN;

#[async_trait]
impl Leases for Store {
    async fn acquire(
        &self,
        session: &SessionId,
        owner: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, StoreError> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.write(move |write, now| {
            let mut head = head(write, &session)?;
            if head.is_owned(now) {
                return Ok(None);
            }
            // Who handed it over left no name.
            let orphans = head.until.is_some() && head.owner != owner && !head.owner.is_empty();
            let until = now.plus(ttl);
            head.epoch = next_epoch(write)?;
            head.until = Some(until.as_millis());
            head.owner.clone_from(&owner);
            head.alarm = None;
            set_head(write, &session, &head)?;
            // A worker checks when the lease ends: a dead owner's session is taken over.
            set_work(write, &session, head.until)?;
            Ok(Some(Lease { session, owner, epoch: head.epoch, ttl, until, orphans }))
        })
        .await
    }

    async fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        let mut lease = lease.clone();
        self.write(move |write, now: Timestamp| {
            let mut head = head(write, &lease.session)?;
            head.check(&lease, now)?;
            lease.until = now.plus(lease.ttl);
            head.until = Some(lease.until.as_millis());
            set_head(write, &lease.session, &head)?;
            set_work(write, &lease.session, head.until)?;
            Ok(lease)
        })
        .await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.give_back(lease, None).await
    }

    async fn release_for(&self, lease: &Lease, pause: Duration) -> Result<(), StoreError> {
        self.give_back(lease, Some(pause)).await
    }

    async fn hand_over(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(move |write, now| {
            let mut head = head(write, &lease.session)?;
            if head.epoch != lease.epoch {
                return Err(StoreError::Fenced);
            }
            head.until = Some(ENDED);
            head.owner.clear();
            set_head(write, &lease.session, &head)?;
            set_work(write, &lease.session, Some(now.as_millis()))
        })
        .await?;
        self.wake.notify_one();
        Ok(())
    }
}

impl Store {
    /// Ends a lease. Where something waits already the session comes up at once, else when the pause is over.
    async fn give_back(&self, lease: &Lease, pause: Option<Duration>) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(move |write, now| {
            let mut head = head(write, &lease.session)?;
            if head.epoch != lease.epoch {
                return Err(StoreError::Fenced);
            }
            head.until = None;
            head.alarm = pause.map(|pause| now.plus(pause).as_millis());
            set_head(write, &lease.session, &head)?;
            let waits = head.next > head.first;
            set_work(write, &lease.session, if waits { Some(now.as_millis()) } else { head.alarm })
        })
        .await?;
        self.wake.notify_one();
        Ok(())
    }
}

/// Ends every lease, and makes all sessions that may hold work come up now.
pub(super) fn end_all(write: &WriteTransaction, now: Timestamp) -> Result<(), StoreError> {
    let mut owned = Vec::new();
    for row in write.open_table(HEADS).map_err(broken)?.iter().map_err(broken)? {
        let (key, text) = row.map_err(broken)?;
        let head: Head = parse(text.value())?;
        if head.until.is_some() {
            owned.push((name(key.value())?, Head { until: Some(ENDED), ..head }));
        }
    }
    for (session, head) in &owned {
        set_head(write, session, head)?;
    }
    // An owner's entry stands at the end of its lease, a claim's at the end of the claim: both owners are dead.
    let mut later = Vec::new();
    for row in write.open_table(WORK).map_err(broken)?.iter().map_err(broken)? {
        let (key, at) = row.map_err(broken)?;
        if at.value() > now.as_millis() {
            later.push(name(key.value())?);
        }
    }
    let mut sessions = owned.iter().map(|(session, _)| session).chain(&later);
    sessions.try_for_each(|session| set_work(write, session, Some(now.as_millis())))
}
