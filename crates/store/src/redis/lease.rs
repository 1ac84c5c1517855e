//! Owners in Redis.

use std::time::Duration;

use async_trait::async_trait;

use crate::redis::connect::Store;
use crate::settings::millis;
use crate::{Lease, Leases, StoreError};
use ghost_base::{SessionId, Timestamp};

#[async_trait]
impl Leases for Store {
    async fn acquire(
        &self,
        session: &SessionId,
        owner: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, StoreError> {
        // Somebody has to look when the lease ends. The first mark covers a crash right after the lease is taken, the second
        // a worker that found nothing to do right before.
        self.mark(session, ttl).await?;
        let mut script = self.scripts.acquire.prepare_invoke();
        script.key(self.keys.lease(session)).arg(owner).arg(millis(ttl));
        let answer: Vec<String> = self.run(&script).await?;
        let [epoch, until, left] = answer.as_slice() else {
            return Ok(None);
        };
        let (Ok(epoch), Ok(until)) = (epoch.parse(), until.parse()) else {
            return Err(StoreError::corrupt("a lease"));
        };
        self.postpone(session, ttl).await?;
        let orphans = !left.is_empty() && left != owner;
        let (session, owner) = (session.clone(), owner.to_owned());
        Ok(Some(Lease { session, owner, epoch, ttl, until: Timestamp::from_millis(until), orphans }))
    }

    async fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        let mut script = self.scripts.renew.prepare_invoke();
        script.key(self.keys.lease(&lease.session)).arg(lease.epoch).arg(millis(lease.ttl));
        let until = self.run::<Vec<String>>(&script).await?.pop().ok_or(StoreError::Fenced)?;
        let until = until.parse().map_err(|_| StoreError::corrupt("a lease"))?;
        Ok(Lease { until: Timestamp::from_millis(until), ..lease.clone() })
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.give_back(lease, None).await
    }

    async fn release_for(&self, lease: &Lease, pause: Duration) -> Result<(), StoreError> {
        self.give_back(lease, Some(pause)).await
    }

    async fn hand_over(&self, lease: &Lease) -> Result<(), StoreError> {
        let mut script = self.scripts.hand_over.prepare_invoke();
        script.key(self.keys.lease(&lease.session)).arg(lease.epoch);
        self.run::<Vec<u64>>(&script).await?.pop().ok_or(StoreError::Fenced)?;
        self.mark(&lease.session, Duration::ZERO).await?;
        self.wake.notify_one();
        Ok(())
    }
}

impl Store {
    /// Ends a lease. Where something waits already the session comes up at once, else when the pause is over.
    async fn give_back(&self, lease: &Lease, pause: Option<Duration>) -> Result<(), StoreError> {
        let mut script = self.scripts.release.prepare_invoke();
        script.key(self.keys.lease(&lease.session)).key(self.keys.inbox(&lease.session)).arg(lease.epoch);
        script.arg(pause.map(|pause| millis(pause).to_string()).unwrap_or_default());
        let waiting = self.run::<Vec<u64>>(&script).await?.pop().ok_or(StoreError::Fenced)?;
        let within = if waiting > 0 { Some(Duration::ZERO) } else { pause };
        if let Some(within) = within {
            // Where this is not reached, the worker that checks the lease at its end finds the moment and puts it into the index.
            self.mark(&lease.session, within).await?;
            self.wake.notify_one();
        }
        Ok(())
    }
}
