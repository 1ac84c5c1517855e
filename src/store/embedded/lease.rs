//! Owners in the file.

use std::time::Duration;

use async_trait::async_trait;

use crate::base::{SessionId, Timestamp};
use crate::store::embedded::ledger::next_epoch;
use crate::store::embedded::open::Store;
use crate::store::embedded::table::{head, set_head, set_work};
use crate::store::{Lease, Leases, StoreError};

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
            let until = now.plus(ttl);
            head.epoch = next_epoch(write)?;
            head.until = Some(until.as_millis());
            set_head(write, &session, &head)?;
            // Somebody looks when the lease ends: an owner that died is followed.
            set_work(write, &session, head.until)?;
            Ok(Some(Lease { session, owner, epoch: head.epoch, ttl, until }))
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
        let lease = lease.clone();
        self.write(move |write, now| {
            let mut head = head(write, &lease.session)?;
            if head.epoch != lease.epoch {
                return Err(StoreError::Fenced);
            }
            head.until = None;
            set_head(write, &lease.session, &head)?;
            set_work(write, &lease.session, (head.next > head.first).then_some(now.as_millis()))
        })
        .await?;
        self.wake.notify_one();
        Ok(())
    }
}
