//! The edge where sessions come up for work: one loop, and a task for each session that is being driven.

use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::task::{JoinError, JoinSet};
use tokio::time::MissedTickBehavior;
use tracing::Instrument as _;

use crate::{DriveControl, DriveOutcome, Engine, EngineError};
use ghost_base::SessionId;
use ghost_shell::{Cancel, CancelSignal};
use ghost_store::StoreError;

/// How often approvals are expired.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);
/// How long one query for work waits in the store.
const WORK_WAIT: Duration = Duration::from_secs(10);
/// How long a query waits after the store did not answer.
const OUTAGE_PAUSE: Duration = Duration::from_secs(1);
/// How many queries for work run at most. One is enough until something is found; then there is often more, and
/// one after the other would have sessions wait for as many answers of the store as there are before them.
const MAX_WORK_QUERIES: usize = 8;

/// How long sessions wait for a store that is away once everything is stopped.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// What became of one session.
type Driven = (SessionId, Result<DriveOutcome, EngineError>);
/// After so many failures in a row the log line is an error.
const FAILURES_BEFORE_ERROR: u32 = 20;

type WorkQuery<'a> = Pin<Box<dyn Future<Output = Result<Option<SessionId>, StoreError>> + Send + 'a>>;

/// Takes sessions up as they come and drives several side by side.
///
/// A session that waits for a human holds nothing here: neither a task nor memory nor a timer.
#[derive(Clone)]
pub struct Worker {
    /// What drives them.
    pub engine: Engine,
    /// How many at once; none counts as one.
    pub max_sessions: usize,
}

impl Worker {
    /// Works until it is stopped; then driven sessions pause, and the call returns once all of them have.
    ///
    /// Where the store is away then, a session that waits for it is left after some seconds, as if its owner had died.
    ///
    /// A session that fails or panics is an error in the log. Its lease runs out, and it comes up again then.
    pub async fn run(&self, stop: CancelSignal) {
        let mut driving = JoinSet::new();
        let mut queries: FuturesUnordered<WorkQuery<'_>> = FuturesUnordered::new();
        let (mut wanted, mut failed) = (1, 0_u32);
        let (give_up, given_up) = Cancel::new();
        let mut sweep = tokio::time::interval(SWEEP_INTERVAL);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopped = stop.clone();
        loop {
            while queries.len() < wanted && driving.len() + queries.len() < self.max_sessions.max(1) {
                queries.push(Box::pin(self.next_work()));
            }
            tokio::select! {
                biased;
                () = stopped.canceled() => break,
                Some(done) = driving.join_next() => log_end(done),
                _ = sweep.tick() => self.sweep(&mut driving).await,
                // A query that is dropped could lose the session that it took, so it runs to its end.
                Some(found) = queries.next() => {
                    wanted = if matches!(found, Ok(Some(_))) { (wanted * 2).min(MAX_WORK_QUERIES) } else { 1 };
                    failed = if found.is_err() { failed + 1 } else { 0 };
                    match found {
                        Ok(Some(session)) => {
                            self.start(&mut driving, session, stop.clone(), given_up.clone());
                        }
                        Ok(None) => {}
                        // A store that is away for a moment comes back; one that stays away needs somebody.
                        Err(error) if failed == FAILURES_BEFORE_ERROR => {
                            tracing::error!("query for work failed {failed} times in a row: {error}");
                        }
                        Err(error) => tracing::warn!("query for work failed: {error}"),
                    }
                }
            }
        }
        let patience = tokio::time::sleep(STOP_PATIENCE);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                biased;
                done = driving.join_next() => match done {
                    Some(done) => log_end(done),
                    None => return,
                },
                () = &mut patience, if !given_up.is_canceled() => give_up.cancel(),
            }
        }
    }

    async fn next_work(&self) -> Result<Option<SessionId>, StoreError> {
        let found = self.engine.store.next_work(&self.engine.owner, WORK_WAIT).await;
        if found.is_err() {
            tokio::time::sleep(OUTAGE_PAUSE).await;
        }
        found
    }

    fn start(
        &self,
        driving: &mut JoinSet<Driven>,
        session: SessionId,
        pause: CancelSignal,
        give_up: CancelSignal,
    ) {
        let engine = Engine { give_up, ..self.engine.clone() };
        let span = tracing::error_span!("session", session.id = %session);
        let work = async move {
            let rest = engine.drive(&session, &DriveControl { pause, transfers: true }).await;
            (session, rest)
        };
        driving.spawn(work.instrument(span));
    }

    /// Lets questions run out; that wakes their sessions. What the store has lost is written back before.
    async fn sweep(&self, driving: &mut JoinSet<Driven>) {
        if let Err(error) = self.engine.check_history().await {
            tracing::warn!("check of the store's history failed: {error}");
        }
        self.write_back(driving).await;
        if !self.engine.history.may_expire() {
            return;
        }
        match self.engine.store.sweep(self.engine.clock.now()).await {
            Ok(expired) if expired.is_empty() => {}
            Ok(expired) => tracing::info!(approvals = expired.len(), "approvals expired"),
            Err(error) => tracing::warn!("expiry of approvals failed: {error}"),
        }
    }
}

impl Worker {
    /// Has the sessions written back of which the store has less than this process knows.
    async fn write_back(&self, driving: &mut JoinSet<Driven>) {
        let lost = match self.engine.lost_sessions().await {
            Ok(lost) if lost.is_empty() => return,
            Ok(lost) => lost,
            Err(error) => return tracing::warn!("lost sessions not looked for: {error}"),
        };
        tracing::warn!("the store lost events of {} sessions that this process knows", lost.len());
        for session in lost {
            let engine = self.engine.clone();
            driving.spawn(async move {
                let written = engine.write_back(&session).await;
                (session, written.map(|()| DriveOutcome::Paused))
            });
        }
    }
}

fn log_end(done: Result<Driven, JoinError>) {
    match done {
        Ok((session, Ok(rest))) => log_outcome(&session, &rest),
        Ok((session, Err(EngineError::Fenced))) => {
            tracing::info!(session.id = %session, "another owner drives session {session}");
        }
        Ok((session, Err(error))) => {
            let cause =
                std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            tracing::error!(session.id = %session, "session {session} failed: {error}{cause}");
        }
        Err(error) => tracing::error!("session task panicked: {error}"),
    }
}

fn log_outcome(session: &SessionId, rest: &DriveOutcome) {
    match rest {
        DriveOutcome::Over
        | DriveOutcome::Waiting { .. }
        | DriveOutcome::Offered { .. }
        | DriveOutcome::Paused
        | DriveOutcome::Taken => {
            tracing::debug!(session.id = %session, "session {session} released: {rest:?}");
        }
        DriveOutcome::Missing => {
            tracing::warn!(session.id = %session, "message for unknown session {session}")
        }
        DriveOutcome::Stuck { why } => {
            tracing::error!(session.id = %session, "session {session} is stuck: {why}")
        }
        DriveOutcome::Undelivered { why } => {
            // It is delivered again by whoever drives the session next.
            tracing::warn!(session.id = %session, "report of session {session} not delivered yet: {why}");
        }
    }
}
