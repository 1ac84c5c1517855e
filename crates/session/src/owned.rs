//! A session that this process owns: its state, and the one function that changes it.

use std::time::Duration;

use crate::{Engine, EngineError};
use ghost_base::{SessionId, Timestamp};
use ghost_investigate::event::{Chain, Event, Recorded, read};
use ghost_investigate::state::State;
use ghost_store::{Item, Lease, StoreError};

/// The first wait after a store did not answer; it doubles up to the longest.
const FIRST_RETRY_WAIT: Duration = Duration::from_millis(100);
const MAX_RETRY_WAIT: Duration = Duration::from_secs(5);

/// A session whose lease this process holds.
pub(super) struct OwnedSession<'a> {
    pub(super) engine: &'a Engine,
    pub(super) lease: Lease,
    chain: Chain,
    /// `None` until the session is opened.
    state: Option<State>,
}

impl<'a> OwnedSession<'a> {
    /// Reads a session whose lease was taken.
    pub(super) async fn open(engine: &'a Engine, lease: Lease) -> Result<Self, EngineError> {
        let session = lease.session().clone();
        let lines = retry_until_available(engine, || engine.store.read(&session, 0)).await?;
        let recorded = read(&session, lines.iter().map(String::as_str))?;
        let chain = Chain::behind(session.clone(), &recorded);
        let state = if recorded.is_empty() { None } else { Some(State::fold(&session, &recorded)?) };
        Ok(Self { engine, lease, chain, state })
    }

    /// Returns the session's name.
    pub(super) fn session(&self) -> &SessionId {
        self.lease.session()
    }

    /// Returns how many events there are.
    pub(super) fn length(&self) -> u64 {
        self.chain.length()
    }

    /// Returns the state, once there is one.
    pub(super) fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Returns what waits in the inbox.
    pub(super) async fn inbox(&self) -> Result<Vec<Item>, EngineError> {
        Ok(retry_until_available(self.engine, || self.engine.store.inbox(self.session())).await?)
    }

    /// Returns the present moment. A clock that was set back must not put a later event before an earlier one.
    pub(super) fn now(&self) -> Timestamp {
        let now = self.engine.clock.now();
        self.state.as_ref().map_or(now, |state| now.max(state.last_at))
    }

    /// Stores events and takes what they were made of out of the inbox; then, and only then, the state changes.
    pub(super) async fn record(&mut self, events: &[Event], drained: u64) -> Result<(), EngineError> {
        self.record_at(self.now(), events, drained).await
    }

    /// Stores events as of a moment. A decision carries the moment when it was made, so that a replay decides the same.
    pub(super) async fn record_at(
        &mut self,
        at: Timestamp,
        events: &[Event],
        drained: u64,
    ) -> Result<(), EngineError> {
        let mut chain = self.chain.clone();
        let sealed: Vec<(String, Recorded)> =
            events.iter().map(|event| chain.seal(at, event)).collect::<Result<_, _>>()?;
        let (lines, recorded): (Vec<String>, Vec<Recorded>) = sealed.into_iter().unzip();
        self.store(&lines, drained).await?;
        self.chain = chain;
        for event in &recorded {
            match &mut self.state {
                Some(state) => state.apply(event)?,
                None => self.state = Some(State::fold(self.lease.session(), std::slice::from_ref(event))?),
            }
            if let Some(state) = &self.state {
                self.engine.observer.recorded(state, event);
            }
        }
        Ok(())
    }

    /// Appends lines however long the store is away; they are there once, or somebody else owns the session.
    async fn store(&mut self, lines: &[String], drained: u64) -> Result<(), EngineError> {
        let expected = self.chain.length();
        let mut wait = FIRST_RETRY_WAIT;
        loop {
            match self.engine.store.append(&self.lease, expected, lines, drained).await {
                Ok(_) => return Ok(()),
                Err(StoreError::LengthMismatch { length })
                    if length > expected && self.is_stored(expected, lines).await? =>
                {
                    return Ok(());
                }
                // An append of ours may have arrived although its answer did not.
                Err(StoreError::InboxTooShort { .. }) if self.is_stored(expected, lines).await? => {
                    return Ok(());
                }
                Err(StoreError::LengthMismatch { .. }) => return Err(EngineError::Fenced),
                Err(StoreError::Fenced) => {
                    self.take_again().await?;
                    if self.is_stored(expected, lines).await? {
                        return Ok(());
                    }
                }
                Err(error @ StoreError::Unavailable { .. }) => {
                    wait = outage(self.engine, error, wait).await?
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes a session again whose lease ended while nobody else wanted it.
    pub(super) async fn take_again(&mut self) -> Result<(), EngineError> {
        let (engine, session) = (self.engine, self.session().clone());
        let taken =
            retry_until_available(engine, || engine.store.acquire(&session, &engine.owner, engine.lease_ttl))
                .await?;
        self.lease = taken.ok_or(EngineError::Fenced)?;
        Ok(())
    }

    /// Tells whether the ledger goes on behind `from` with exactly these lines; fails where it goes on otherwise.
    async fn is_stored(&self, from: u64, lines: &[String]) -> Result<bool, EngineError> {
        let engine = self.engine;
        let tail = retry_until_available(engine, || engine.store.read(self.lease.session(), from)).await?;
        match tail.as_slice() {
            [] => Ok(false),
            tail if tail == lines => Ok(true),
            _ => Err(EngineError::Fenced),
        }
    }
}

/// Asks a store until it answers.
pub(super) async fn retry_until_available<T, F>(
    engine: &Engine,
    mut ask: impl FnMut() -> F,
) -> Result<T, StoreError>
where
    // An `AsyncFnMut` would make a future that no task can be made of.
    F: Future<Output = Result<T, StoreError>>,
{
    let mut wait = FIRST_RETRY_WAIT;
    loop {
        match ask().await {
            Err(error @ StoreError::Unavailable { .. }) => wait = outage(engine, error, wait).await?,
            done => return done,
        }
    }
}

/// Says that the store is away, waits, and returns how long to wait the next time; gives the error back where nobody may wait
/// any more. Then the session is left as one whose owner died: whoever takes it next goes on from its ledger.
async fn outage(engine: &Engine, error: StoreError, wait: Duration) -> Result<Duration, StoreError> {
    let mut give_up = engine.give_up.clone();
    engine.observer.trouble(&format!("{error}; retrying, nothing is lost"));
    tokio::select! {
        biased;
        () = give_up.canceled() => Err(error),
        () = tokio::time::sleep(wait) => Ok((wait * 2).min(MAX_RETRY_WAIT)),
    }
}

/// Renews a lease for as long as `work` takes; returns its result and the lease as it is then.
///
/// A lease that ended while nobody else wanted the session is taken again. Where somebody else has or had the session the work
/// is dropped: a command of it is killed.
pub(super) async fn hold_lease<T>(
    owned: &OwnedSession<'_>,
    work: impl Future<Output = T>,
) -> Result<(T, Lease), EngineError> {
    let mut lease = owned.lease.clone();
    let done = tokio::select! {
        biased;
        done = work => done,
        lost = renew(owned.engine, &mut lease, owned.length()) => return Err(lost),
    };
    Ok((done, lease))
}

async fn renew(engine: &Engine, lease: &mut Lease, length: u64) -> EngineError {
    let third = (engine.lease_ttl / 3).max(Duration::from_millis(10));
    // Many short works in a row use a lease up as one long work does: the first pause is what is left of its first third.
    let left = lease.until().since(engine.clock.now());
    let mut pause = left.saturating_sub(2 * third).min(third);
    loop {
        tokio::time::sleep(pause).await;
        match retry_until_available(engine, || engine.store.renew(lease)).await {
            Ok(renewed) => *lease = renewed,
            Err(StoreError::Fenced) => match take_lease_again(engine, lease, length).await {
                Ok(taken) => *lease = taken,
                Err(lost) => return lost,
            },
            Err(error) => return error.into(),
        }
        pause = third;
    }
}

/// Takes a session again whose lease ended, unless somebody else has it, or had it and went on.
async fn take_lease_again(engine: &Engine, lease: &Lease, length: u64) -> Result<Lease, EngineError> {
    let session = lease.session();
    let taken =
        retry_until_available(engine, || engine.store.acquire(session, &engine.owner, engine.lease_ttl))
            .await?;
    let taken = taken.ok_or(EngineError::Fenced)?;
    if retry_until_available(engine, || engine.store.read(session, length)).await?.is_empty() {
        return Ok(taken);
    }
    match retry_until_available(engine, || engine.store.release(&taken)).await {
        Ok(()) | Err(StoreError::Fenced) => Err(EngineError::Fenced),
        Err(error) => Err(error.into()),
    }
}
