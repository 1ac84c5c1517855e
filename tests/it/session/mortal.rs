//! A store that tells each call's number before and after it, so that something can happen exactly there, and that can be away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{SessionId, Timestamp};
use ghost_store::{
    Approval, ApprovalId, ApprovalRecord, Approvals, Backlog, Claimed, Claims, Consumed, Delivered, Dispatch,
    Inbox, Item, Lease, Leases, Ledger, Opened, Outcome, SharedState, Store, StoreError, Vote,
};

/// A moment around a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// The call did not reach the store.
    Before,
    /// The store did it, and the answer was lost.
    After,
}

/// Which call, from zero, and which moment.
pub(crate) type Point = (usize, When);

/// What a hook makes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Delivered,
    Lost,
}

type Hook = dyn Fn(Point) -> Answer + Send + Sync;

/// The store. Calls whose number depends on how long something takes are not counted.
pub(crate) struct Mortal {
    inner: Arc<dyn Store>,
    hook: Box<Hook>,
    calls: AtomicUsize,
    running: AtomicBool,
    away: AtomicBool,
    idle: AtomicBool,
}

impl Mortal {
    pub(crate) fn new(inner: Arc<dyn Store>, hook: impl Fn(Point) -> Answer + Send + Sync + 'static) -> Self {
        Self {
            inner,
            hook: Box::new(hook),
            calls: AtomicUsize::new(0),
            running: AtomicBool::new(false),
            away: AtomicBool::new(false),
            idle: AtomicBool::new(false),
        }
    }

    /// Returns how many calls were counted.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Lets no call reach the store, or each.
    pub(crate) fn away(&self, is_away: bool) {
        self.away.store(is_away, Ordering::SeqCst);
    }

    /// Gives nobody any work from now on.
    pub(crate) fn gives_no_work(&self) {
        self.idle.store(true, Ordering::SeqCst);
    }

    fn there(&self) -> Result<&dyn Store, StoreError> {
        match self.away.load(Ordering::SeqCst) {
            true => Err(lost()),
            false => Ok(self.inner.as_ref()),
        }
    }

    async fn pass<T>(&self, ask: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        self.there()?;
        if (self.hook)((call, When::Before)) == Answer::Lost {
            return Err(lost());
        }
        let answer = ask.await;
        if (self.hook)((call, When::After)) == Answer::Lost { Err(lost()) } else { answer }
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable { source: "cut".into(), hint: "the answer got lost".to_owned(), refusal: None }
}

#[async_trait]
impl Ledger for Mortal {
    async fn append(
        &self,
        lease: &Lease,
        expected: u64,
        events: &[String],
        drained: u64,
    ) -> Result<u64, StoreError> {
        let done = self.pass(self.inner.append(lease, expected, events, drained)).await?;
        let runs = events.last().is_some_and(|line| line.contains(r#""kind":"executing""#));
        self.running.store(runs, Ordering::SeqCst);
        Ok(done)
    }

    async fn read(&self, session: &SessionId, from: u64) -> Result<Vec<String>, StoreError> {
        self.pass(self.inner.read(session, from)).await
    }

    async fn length(&self, session: &SessionId) -> Result<u64, StoreError> {
        self.there()?.length(session).await
    }

    async fn list(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionId>, StoreError> {
        self.there()?.list(after, limit).await
    }

    async fn erase(&self, session: &SessionId, keep: &[String]) -> Result<(), StoreError> {
        self.there()?.erase(session, keep).await
    }

    async fn expire(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.there()?.expire(session, at).await
    }

    async fn erase_expired(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        self.there()?.erase_expired(now).await
    }
}

#[async_trait]
impl Inbox for Mortal {
    async fn deliver(&self, session: &SessionId, key: &str, item: &str) -> Result<Delivered, StoreError> {
        self.pass(self.inner.deliver(session, key, item)).await
    }

    async fn inbox(&self, session: &SessionId) -> Result<Vec<Item>, StoreError> {
        if self.running.load(Ordering::SeqCst) {
            return self.there()?.inbox(session).await;
        }
        self.pass(self.inner.inbox(session)).await
    }
}

#[async_trait]
impl Leases for Mortal {
    async fn acquire(
        &self,
        session: &SessionId,
        owner: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, StoreError> {
        self.pass(self.inner.acquire(session, owner, ttl)).await
    }

    async fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.there()?.renew(lease).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.pass(self.inner.release(lease)).await
    }

    async fn release_for(&self, lease: &Lease, pause: Duration) -> Result<(), StoreError> {
        self.pass(self.inner.release_for(lease, pause)).await
    }

    async fn hand_over(&self, lease: &Lease) -> Result<(), StoreError> {
        self.pass(self.inner.hand_over(lease)).await
    }
}

#[async_trait]
impl Approvals for Mortal {
    async fn open(&self, record: &ApprovalRecord) -> Result<Opened, StoreError> {
        self.pass(self.inner.open(record)).await
    }

    async fn vote(&self, id: &ApprovalId, vote: &Vote) -> Result<Outcome, StoreError> {
        self.pass(self.inner.vote(id, vote)).await
    }

    async fn find(&self, id: &ApprovalId, now: Timestamp) -> Result<Option<Approval>, StoreError> {
        self.pass(self.inner.find(id, now)).await
    }

    async fn pending(
        &self,
        session: Option<&SessionId>,
        now: Timestamp,
    ) -> Result<Vec<Approval>, StoreError> {
        self.there()?.pending(session, now).await
    }

    async fn sweep(&self, now: Timestamp) -> Result<Vec<ApprovalId>, StoreError> {
        self.there()?.sweep(now).await
    }

    async fn consume(&self, id: &ApprovalId, lease: &Lease) -> Result<Consumed, StoreError> {
        self.pass(self.inner.consume(id, lease)).await
    }
}

#[async_trait]
impl Dispatch for Mortal {
    async fn next_work(&self, owner: &str, wait: Duration) -> Result<Option<SessionId>, StoreError> {
        let is_idle = || self.idle.load(Ordering::SeqCst);
        if is_idle() {
            tokio::time::sleep(wait).await;
            return Ok(None);
        }
        let found = self.there()?.next_work(owner, wait).await?;
        self.there()?;
        Ok(found.filter(|_| !is_idle()))
    }

    async fn backlog(&self) -> Result<Backlog, StoreError> {
        self.there()?.backlog().await
    }
}

#[async_trait]
impl SharedState for Mortal {
    async fn flag(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        self.there()?.flag(name).await
    }

    async fn set_flag(&self, name: &'static str, value: Option<&str>) -> Result<(), StoreError> {
        self.there()?.set_flag(name, value).await
    }

    async fn post(&self, session: &SessionId, line: &str, at: Timestamp) -> Result<(), StoreError> {
        self.there()?.post(session, line, at).await
    }

    async fn note(&self, expected: u64, line: &str) -> Result<(), StoreError> {
        self.there()?.note(expected, line).await
    }

    async fn notes(&self, limit: usize) -> Result<(u64, Vec<String>), StoreError> {
        self.there()?.notes(limit).await
    }

    async fn posted(&self, limit: usize) -> Result<Vec<(SessionId, String)>, StoreError> {
        self.there()?.posted(limit).await
    }
}

#[async_trait]
impl Claims for Mortal {
    async fn claimed(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.there()?.claimed(name).await
    }

    async fn claim(
        &self,
        name: &str,
        expected: Option<&str>,
        value: &str,
        ttl: Duration,
    ) -> Result<Claimed, StoreError> {
        self.pass(self.inner.claim(name, expected, value, ttl)).await
    }
}
