//! A session that this process owns: its state, and the one function that changes it.

use std::time::Duration;

use crate::{Engine, EngineError, ShellError};
use futures_util::future::BoxFuture;
use ghost_base::{SessionId, Timestamp};
use ghost_investigate::event::{Chain, Event, Recorded, Resumed, read};
use ghost_investigate::state::State;
use ghost_shell::audit::Run;
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
    /// The ledger as it is known here.
    lines: Vec<String>,
    /// How many lines the store had lost and has again.
    written_back: u64,
    /// The runs in the audit of this machine, once they were read.
    runs: Option<Vec<Run>>,
}

/// What was driven here may have to be written back.
impl Drop for OwnedSession<'_> {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if !lines.is_empty() {
            self.engine.history.keep(self.lease.session(), lines);
        }
    }
}

impl<'a> OwnedSession<'a> {
    /// Reads a session whose lease was taken.
    pub(super) async fn open(engine: &'a Engine, lease: Lease) -> Result<Self, EngineError> {
        let session = lease.session().clone();
        let mut lines = retry_until_available(engine, || engine.store.read(&session, 0)).await?;
        let mut written_back = 0;
        if let Some(known) = engine.history.ledger(&session)
            && let Some(lost) = known.strip_prefix(lines.as_slice()).filter(|lost| !lost.is_empty())
        {
            let length = count(&lines);
            retry_until_available(engine, || engine.store.append(&lease, length, lost, 0)).await?;
            written_back = count(lost);
            lines.extend_from_slice(lost);
        }
        let recorded = read(&session, lines.iter().map(String::as_str))?;
        let chain = Chain::behind(session.clone(), &recorded);
        let state = if recorded.is_empty() { None } else { Some(State::fold(&session, &recorded)?) };
        let mut owned = Self { engine, lease, chain, state, lines, written_back, runs: None };
        owned.note_written_back().await?;
        Ok(owned)
    }

    /// Returns the runs with a named consent that the audit of this machine holds, as of when the session was taken.
    pub(super) fn runs(&mut self) -> Result<Vec<Run>, EngineError> {
        if let Some(runs) = &self.runs {
            return Ok(runs.clone());
        }
        let Some(state) = &self.state else { return Ok(Vec::new()) };
        let runs = (self.engine.open_shell)(state)?.runs();
        let runs = runs.map_err(|error| ShellError::from(format!("the audit cannot be read: {error}")))?;
        Ok(self.runs.insert(runs).clone())
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
    pub(super) fn record<'s>(
        &'s mut self,
        events: &'s [Event],
        drained: u64,
    ) -> BoxFuture<'s, Result<(), EngineError>> {
        self.record_at(self.now(), events, drained)
    }

    /// Stores events as of a moment. A decision carries the moment when it was made, so that a replay decides the same.
    ///
    /// It is boxed: the drive loop awaits it at many places, and each would keep room for it on the stack.
    pub(super) fn record_at<'s>(
        &'s mut self,
        at: Timestamp,
        events: &'s [Event],
        drained: u64,
    ) -> BoxFuture<'s, Result<(), EngineError>> {
        Box::pin(async move {
            let mut chain = self.chain.clone();
            let sealed: Vec<(String, Recorded)> =
                events.iter().map(|event| chain.seal(at, event)).collect::<Result<_, _>>()?;
            let (lines, recorded): (Vec<String>, Vec<Recorded>) = sealed.into_iter().unzip();
            self.store(&lines, drained).await?;
            self.lines.extend(lines);
            self.chain = chain;
            for event in &recorded {
                match &mut self.state {
                    Some(state) => state.apply(event)?,
                    None => {
                        self.state = Some(State::fold(self.lease.session(), std::slice::from_ref(event))?);
                    }
                }
                if let Some(state) = &self.state {
                    self.engine.observer.recorded(state, event);
                }
            }
            self.note_written_back().await
        })
    }

    /// Takes items out of the inbox that say nothing. Nothing can be recorded where no session was opened.
    pub(super) async fn drain_only(&mut self, items: usize) -> Result<(), EngineError> {
        self.store(&[], u64::try_from(items).unwrap_or(u64::MAX)).await
    }

    /// Records that lines were written back which the store had lost.
    async fn note_written_back(&mut self) -> Result<(), EngineError> {
        let restored = std::mem::take(&mut self.written_back);
        if restored == 0 {
            return Ok(());
        }
        let session = self.session();
        tracing::warn!(session.id = %session, "{restored} events of session {session} written back: the store had lost them");
        let resumed = Resumed { epoch: self.lease.epoch(), restored };
        self.record(&[Event::Resumed(resumed)], 0).await
    }

    /// Writes back the lines behind `length` that the store has lost, if its lines are the beginning of those known here.
    /// Returns whether it did.
    fn write_back(&mut self, length: u64) -> BoxFuture<'_, Result<bool, EngineError>> {
        Box::pin(async move {
            let (engine, session) = (self.engine, self.session().clone());
            let found = retry_until_available(engine, || engine.store.read(&session, 0)).await?;
            let Some(lost) = self.lines.strip_prefix(found.as_slice()) else { return Ok(false) };
            if count(&found) != length {
                return Ok(false);
            }
            let lease = self.lease.clone();
            match retry_until_available(engine, || engine.store.append(&lease, length, lost, 0)).await {
                // Where its answer was lost the lines are there, and the caller finds that out.
                Ok(_) | Err(StoreError::LengthMismatch { .. }) => {}
                Err(StoreError::Fenced) => return Err(EngineError::Fenced),
                Err(error) => return Err(error.into()),
            }
            self.written_back += count(lost);
            Ok(true)
        })
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
                Err(StoreError::LengthMismatch { length })
                    if length < expected && self.write_back(length).await? => {}
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

fn count(lines: &[String]) -> u64 {
    u64::try_from(lines.len()).unwrap_or(u64::MAX)
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
