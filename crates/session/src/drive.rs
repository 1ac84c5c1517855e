//! The loop: take the session, look at what arrived, do the next thing, until there is nothing to do.

use std::sync::Arc;
use std::time::Duration;

use crate::arrive::stop_message;
use crate::execute::{ExecuteOutcome, Gate, execute, reclassify, refuse};
use crate::hand_over::{hand_over, refuse_outside};
use crate::owned::{OwnedSession, hold_lease, retry_until_available};
use crate::rollback::doubt;
use crate::think::{event, name_calls, say_still_thinking, think};
use crate::together::execute_together;
use crate::witness::{restore, settle};
use crate::{DriveOutcome, Engine, EngineError};
use futures_util::future::BoxFuture;
use ghost_base::{Digest, SessionId};
use ghost_investigate::decision::{DecisionContext, Effect, next};
use ghost_investigate::event::{
    AnswerFailed, ApprovalRequested, Delivered, Event, RECHECK_PROVIDER, Reopened, Resumed, StepId,
};
use ghost_investigate::model::Model;
use ghost_investigate::state::State;
use ghost_investigate::{recheck, report};
use ghost_shell::{CancelSignal, Ruling};
use ghost_store::{Lease, StoreError};

/// A gap longer than this, in which nobody was waited for, was a pause.
const PAUSE_THRESHOLD: Duration = Duration::from_secs(60);

/// How long a command is held back before the freeze is checked again.
const FREEZE_RECHECK_INTERVAL: Duration = Duration::from_millis(500);

/// How often a question that is too long is asked again at half its length.
const MAX_SHORTENED_ATTEMPTS: u32 = 2;

/// How the caller controls a session that is driven.
#[derive(Debug, Clone)]
pub struct DriveControl {
    /// Comes when the caller wants the session to pause.
    pub pause: CancelSignal,
    /// Whether a session that pauses goes to another owner at once. Otherwise it rests until somebody resumes it.
    pub transfers: bool,
}

/// Notifies the observer when driving begins and ends, also where it was cut off.
struct DriveGuard<'a> {
    engine: &'a Engine,
    session: SessionId,
    reported: bool,
}

impl<'a> DriveGuard<'a> {
    fn begin(engine: &'a Engine, lease: &Lease) -> Self {
        let session = lease.session().clone();
        engine.observer.began(&session, lease.is_orphans());
        Self { engine, session, reported: false }
    }

    fn end(&mut self, how: &Result<DriveOutcome, EngineError>) {
        self.reported = true;
        self.engine.observer.ended(&self.session, Some(how));
    }
}

impl Drop for DriveGuard<'_> {
    fn drop(&mut self) {
        if !self.reported {
            self.engine.observer.ended(&self.session, None);
        }
    }
}

/// Tells whether a question would be asked because there is no sandbox, before the gate looked at what else there is.
fn asks_before_inspection(state: &State, asked: &ApprovalRequested) -> bool {
    let round = state.step(asked.step).and_then(|step| step.round());
    !asked.outcome_unknown && round.is_some_and(|round| round.classified.rule == Ruling::SANDBOX_MISSING)
}

/// Says that what had shown faults is checked again, where the sender of the alert says that it is over, or back, and the
/// report is there.
fn check_again(state: &State) -> Option<Reopened> {
    let wanted = state.is_check_due && recheck::possible(state).is_ok();
    let status = state.alerts.last().map(|(_, last)| last.status.word())?;
    wanted.then(|| Reopened {
        who: state.opened.requester.clone(),
        text: format!("the alert is {status}, says its sender"),
        recheck: true,
    })
}

/// Tells whether a session rests until something arrives. Otherwise its lease runs out, and then it comes up again: not at
/// once, so that what fails does not fail all the time, and not never.
async fn gives_back(
    owned: &OwnedSession<'_>,
    rest: &Result<DriveOutcome, EngineError>,
) -> Result<bool, EngineError> {
    match rest {
        Ok(
            DriveOutcome::Over
            | DriveOutcome::Waiting { .. }
            | DriveOutcome::Offered { .. }
            | DriveOutcome::Paused
            | DriveOutcome::Stuck { .. }
            | DriveOutcome::Taken,
        ) => Ok(true),
        // What waits there would bring it up at once, again and again.
        Ok(DriveOutcome::Missing) => Ok(owned.inbox().await?.is_empty()),
        Ok(DriveOutcome::Undelivered { .. }) => Ok(false),
        // Whoever took a session again only to see that somebody else had gone on may hold it.
        Err(EngineError::Fenced) => Ok(true),
        Err(_) => Ok(false),
    }
}

impl Engine {
    /// Drives a session until it is over, waits for a human, or has to pause.
    ///
    /// # Errors
    /// Fails where the session cannot be read, or another owner took it over.
    pub async fn drive(
        &self,
        session: &SessionId,
        control: &DriveControl,
    ) -> Result<DriveOutcome, EngineError> {
        let taken =
            retry_until_available(self, || self.store.acquire(session, &self.owner, self.lease_ttl)).await?;
        let Some(lease) = taken else { return Ok(DriveOutcome::Taken) };
        let mut guard = DriveGuard::begin(self, &lease);
        let rest = self.attend(lease, control).await;
        guard.end(&rest);
        rest
    }

    async fn attend(&self, lease: Lease, control: &DriveControl) -> Result<DriveOutcome, EngineError> {
        let mut owned = OwnedSession::open(self, lease).await?;
        let rest = self.go(&mut owned, control).await;
        if gives_back(&owned, &rest).await? {
            let lease = owned.lease.clone();
            let give_back = || match &rest {
                Ok(DriveOutcome::Paused) if control.transfers => self.store.hand_over(&lease),
                // Nobody holds anything until then, and whoever has room takes it up.
                Ok(DriveOutcome::Offered { until }) => {
                    self.store.release_for(&lease, until.since(self.clock.now()))
                }
                Ok(_) | Err(_) => self.store.release(&lease),
            };
            match retry_until_available(self, give_back).await {
                Ok(()) | Err(StoreError::Fenced) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let (session, length) = (owned.session().clone(), owned.length());
        // From here on the ledger is kept, so that it can be written back.
        drop(owned);
        if rest.is_ok() && retry_until_available(self, || self.store.length(&session)).await? < length {
            self.write_back(&session).await?;
        }
        rest
    }

    async fn go(
        &self,
        owned: &mut OwnedSession<'_>,
        control: &DriveControl,
    ) -> Result<DriveOutcome, EngineError> {
        let mut gate = Gate::new();
        // What ran without the ledger's knowledge comes first: what waits in the inbox may say that it expired.
        restore(owned).await?;
        doubt(owned).await?;
        self.resume(owned).await?;
        self.drain(owned).await?;
        if let Err(why) = self.reconcile(owned).await? {
            self.observer.trouble(&format!("session status not shown: {why}"));
        }
        let model = self.model_of(owned.state());
        loop {
            self.drain(owned).await?;
            if let Some(again) = owned.state().and_then(check_again) {
                owned.record(&[Event::Reopened(again)], 0).await?;
            }
            let Some(state) = owned.state() else { return Ok(DriveOutcome::Missing) };
            let investigator = model.investigator();
            let context = DecisionContext {
                policy: &self.policy,
                tools: &self.tools,
                evidence: self.evidence.as_ref(),
                investigator: &investigator,
                site: self.site_prompt.as_deref(),
            };
            let now = owned.now();
            let is_outside = state.opened.outside.is_some();
            let effect = next(state, &context, now);
            if control.pause.is_canceled() && !matches!(effect, Effect::Record(_) | Effect::Rest) {
                return Ok(DriveOutcome::Paused);
            }
            match effect {
                Effect::Record(events) => owned.record_at(now, &events, 0).await?,
                Effect::Ask { asked, ask } => {
                    owned.record_at(now, &[Event::ModelAsked(asked.clone())], 0).await?;
                    let mut pause = control.pause.clone();
                    let session = owned.session().clone();
                    let Some(state) = owned.state() else { return Ok(DriveOutcome::Missing) };
                    let thinking = async {
                        tokio::select! {
                            biased;
                            turn = think(self, model.as_ref(), &ask, &asked) => Some(turn),
                            () = pause.canceled() => None,
                            () = stop_message(self, &session) => None,
                            () = say_still_thinking(self, state) => None,
                        }
                    };
                    let (turn, lease) = hold_lease(owned, thinking).await?;
                    owned.lease = lease;
                    let Some(mut turn) = turn else { continue };
                    if let (Ok(answered), Some(state)) = (&mut turn, owned.state()) {
                        name_calls(state, answered.turn, &mut answered.calls);
                    }
                    let failed = turn.as_ref().err().cloned();
                    owned.record(&[event(turn)], 0).await?;
                    let shorter = owned.state().is_some_and(|state| state.too_long <= MAX_SHORTENED_ATTEMPTS);
                    if let Some(AnswerFailed { problem: why, .. }) =
                        failed.filter(|failed| !(failed.too_long && shorter))
                    {
                        return self.shown(owned, DriveOutcome::Stuck { why }).await;
                    }
                }
                Effect::Request(requested) => {
                    // Without a sandbox nothing ran that the gate would have looked at.
                    let is_judged_first = asks_before_inspection(state, &requested);
                    let is_news = settle(owned, requested.step, Some(&requested)).await?
                        || (is_judged_first && reclassify(owned, &mut gate, requested.step).await?);
                    if !is_news {
                        owned.record_at(now, &[Event::ApprovalRequested(requested.clone())], 0).await?;
                        self.open_question(owned, &requested).await?;
                    }
                }
                Effect::Execute { .. } if self.is_frozen(owned, control).await? => {}
                Effect::Execute { step, consumes: Some(_), .. }
                    if self.is_doubtful(owned, &[step]).await? => {}
                Effect::Execute { step, .. } if reclassify(owned, &mut gate, step).await? => {}
                Effect::Execute { step, consumes, intended } => {
                    if execute(owned, &mut gate, control, step, consumes, intended).await?
                        == ExecuteOutcome::Paused
                    {
                        return Ok(DriveOutcome::Paused);
                    }
                }
                Effect::ExecuteTogether { .. } if self.is_frozen(owned, control).await? => {}
                Effect::ExecuteTogether { steps } if self.is_doubtful(owned, &steps).await? => {}
                Effect::ExecuteTogether { steps } => {
                    // What the gate finds on this machine is the same for all of them; each is judged once more when it runs.
                    let is_found = match steps.first() {
                        Some(first) => reclassify(owned, &mut gate, *first).await?,
                        None => false,
                    };
                    if !is_found
                        && execute_together(owned, &mut gate, control, &steps).await?
                            == ExecuteOutcome::Paused
                    {
                        return Ok(DriveOutcome::Paused);
                    }
                }
                Effect::HandOver { .. } if self.is_frozen(owned, control).await? => {}
                Effect::HandOver { step, consumes, key } => {
                    hand_over(owned, &mut gate, step, consumes, key).await?;
                }
                Effect::Refuse { step } if is_outside => {
                    refuse_outside(owned, &mut gate, step).await?;
                }
                Effect::Refuse { step } => refuse(owned, &mut gate, step).await?,
                Effect::Withdraw { approval } => self.withdraw(owned, &approval).await?,
                Effect::FileTask { call, task } => self.run_file_task(owned, &call, &task).await?,
                Effect::Wait { until } => match self.wait(owned, control, until).await? {
                    Some(rest) => return self.shown(owned, rest).await,
                    None => continue,
                },
                Effect::Deliver => {
                    if let Some(why) = self.deliver(owned).await? {
                        return Ok(DriveOutcome::Undelivered { why });
                    }
                }
                Effect::Rest => return self.shown(owned, DriveOutcome::Over).await,
            }
        }
    }

    /// Makes sure, before approved commands run, that the store did not lose an earlier run of them. Returns whether something is on
    /// record now that was not before.
    fn is_doubtful<'s>(
        &'s self,
        owned: &'s mut OwnedSession<'_>,
        steps: &'s [StepId],
    ) -> BoxFuture<'s, Result<bool, EngineError>> {
        Box::pin(async move {
            let asks = |id: &&StepId| {
                let step = owned.state().and_then(|state| state.step(**id));
                step.and_then(|step| step.round()).is_some_and(|round| round.classified.verdict == "RISKY")
            };
            let risky: Vec<StepId> = steps.iter().filter(asks).copied().collect();
            if risky.is_empty() {
                return Ok(false);
            }
            let is_rolled_back = retry_until_available(self, || self.check_history()).await?;
            if is_rolled_back && doubt(owned).await? {
                return Ok(true);
            }
            for step in risky {
                if settle(owned, step, None).await? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Returns what answers the session from here on: whoever answered it last, as far as that one is among those to ask.
    fn model_of(&self, state: Option<&State>) -> Arc<dyn Model> {
        let last = state.and_then(|state| {
            let mut turns = state.turns();
            // A check of what was fixed asks no model.
            turns.rfind(|turn| turn.investigator.provider != RECHECK_PROVIDER)
        });
        let own = self.model.for_session(last.map(|turn| &turn.investigator));
        own.unwrap_or_else(|| Arc::clone(&self.model))
    }

    /// Records that the session goes on after a pause, so that the pause does not count as work.
    async fn resume(&self, owned: &mut OwnedSession<'_>) -> Result<(), EngineError> {
        let Some(state) = owned.state() else { return Ok(()) };
        let idle = self.clock.now().since(state.last_at) > PAUSE_THRESHOLD;
        let rests = state.is_over() || state.opened.outside.is_some();
        if idle && state.open_approval().is_none() && !rests {
            let resumed = Resumed { epoch: owned.lease.epoch(), restored: 0 };
            owned.record(&[Event::Resumed(resumed)], 0).await?;
        }
        Ok(())
    }

    /// Holds a command back while somebody wants none to begin. Returns whether it did: then everything is looked at again.
    async fn is_frozen(
        &self,
        owned: &mut OwnedSession<'_>,
        control: &DriveControl,
    ) -> Result<bool, EngineError> {
        let Some(why) = self.freeze.frozen().await else { return Ok(false) };
        self.observer.trouble(&why);
        let (mut pause, session) = (control.pause.clone(), owned.session().clone());
        let waiting = async {
            tokio::select! {
                () = tokio::time::sleep(FREEZE_RECHECK_INTERVAL) => {}
                () = pause.canceled() => {}
                () = stop_message(self, &session) => {}
            }
        };
        let ((), lease) = hold_lease(owned, waiting).await?;
        owned.lease = lease;
        Ok(true)
    }

    /// Makes what people see agree with the state before the session is given back.
    async fn shown(
        &self,
        owned: &mut OwnedSession<'_>,
        rest: DriveOutcome,
    ) -> Result<DriveOutcome, EngineError> {
        Ok(match self.reconcile(owned).await? {
            Ok(()) => rest,
            Err(why) => DriveOutcome::Undelivered { why },
        })
    }

    async fn reconcile(&self, owned: &mut OwnedSession<'_>) -> Result<Result<(), String>, EngineError> {
        let Some(state) = owned.state() else { return Ok(Ok(())) };
        let (reconciled, lease) = hold_lease(owned, self.delivery.reconcile(state)).await?;
        owned.lease = lease;
        match reconciled {
            Ok(delivered) if delivered.is_empty() => Ok(Ok(())),
            Ok(delivered) => {
                let events: Vec<Event> = delivered.into_iter().map(Event::Delivered).collect();
                owned.record(&events, 0).await.map(Ok)
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    async fn deliver(&self, owned: &mut OwnedSession<'_>) -> Result<Option<String>, EngineError> {
        let Some(state) = owned.state() else { return Ok(None) };
        let text = report::rca(state);
        let delivering = self.delivery.deliver(state, &text);
        let (delivered_to, lease) = hold_lease(owned, delivering).await?;
        owned.lease = lease;
        match delivered_to {
            Ok(place) => {
                let delivered =
                    Delivered { what: Delivered::REPORT.to_owned(), place, digest: Digest::of(&text) };
                owned.record(&[Event::Delivered(delivered)], 0).await?;
                Ok(None)
            }
            Err(error) => Ok(Some(error.to_string())),
        }
    }
}
