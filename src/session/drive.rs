//! The loop: take the session, look at what arrived, do the next thing, until there is nothing to do.

use std::time::Duration;

use crate::session::arrive::stop_letter;
use crate::session::desk::{Desk, patiently};
use crate::session::execute::{Gate, Went, execute, look, refuse};
use crate::session::keep::keep;
use crate::session::think::{event, name_calls, think};
use crate::session::{Engine, EngineError, Rest};
use ghost_base::{Digest, SessionId};
use ghost_investigate::event::{AnswerFailed, ApprovalRequested, Delivered, Event, Resumed};
use ghost_investigate::report;
use ghost_investigate::state::State;
use ghost_investigate::step::{Effect, Kit, next};
use ghost_shell::{CancelSignal, Ruling};
use ghost_store::{Lease, StoreError};

/// A gap longer than this, in which nobody was waited for, was a pause.
const PAUSE: Duration = Duration::from_secs(60);

/// How long a command is held back before somebody looks again.
const HOLD: Duration = Duration::from_millis(500);

/// How often a question that is too long is asked again at half its length.
const SHORTER: u32 = 2;

/// What the caller holds while a session is driven.
#[derive(Debug, Clone)]
pub struct Hands {
    /// Comes when the caller wants the session to pause.
    pub pause: CancelSignal,
}

/// Tells the watcher that a session is driven, and that it is not any more: also where the driving was cut off.
struct Watched<'a> {
    engine: &'a Engine,
    session: SessionId,
    told: bool,
}

impl<'a> Watched<'a> {
    fn begin(engine: &'a Engine, lease: &Lease) -> Self {
        let session = lease.session().clone();
        engine.observer.began(&session, lease.is_orphans());
        Self { engine, session, told: false }
    }

    fn end(&mut self, how: &Result<Rest, EngineError>) {
        self.told = true;
        self.engine.observer.ended(&self.session, Some(how));
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if !self.told {
            self.engine.observer.ended(&self.session, None);
        }
    }
}

/// Tells whether a question would be asked because there is no sandbox, before the gate looked at what else there is.
fn asks_unlooked(state: &State, asked: &ApprovalRequested) -> bool {
    let round = state.step(asked.step).and_then(|step| step.round());
    !asked.outcome_unknown && round.is_some_and(|round| round.classified.rule == Ruling::SANDBOX_MISSING)
}

/// Tells whether a session rests until something arrives. Otherwise its lease runs out, and then it comes up again: not at
/// once, so that what fails does not fail all the time, and not never.
async fn gives_back(desk: &Desk<'_>, rest: &Result<Rest, EngineError>) -> Result<bool, EngineError> {
    match rest {
        Ok(Rest::Over | Rest::Waiting { .. } | Rest::Paused | Rest::Stuck { .. } | Rest::Taken) => Ok(true),
        // What waits there would bring it up at once, again and again.
        Ok(Rest::Missing) => Ok(desk.inbox().await?.is_empty()),
        Ok(Rest::Undelivered { .. }) => Ok(false),
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
    pub async fn drive(&self, session: &SessionId, hands: &Hands) -> Result<Rest, EngineError> {
        let taken = patiently(self, || self.store.acquire(session, &self.owner, self.lease_ttl)).await?;
        let Some(lease) = taken else { return Ok(Rest::Taken) };
        let mut watched = Watched::begin(self, &lease);
        let rest = self.attend(lease, hands).await;
        watched.end(&rest);
        rest
    }

    async fn attend(&self, lease: Lease, hands: &Hands) -> Result<Rest, EngineError> {
        let mut desk = Desk::open(self, lease).await?;
        let rest = self.go(&mut desk, hands).await;
        if gives_back(&desk, &rest).await? {
            let lease = desk.lease.clone();
            match patiently(self, || self.store.release(&lease)).await {
                Ok(()) | Err(StoreError::Fenced) => {}
                Err(error) => return Err(error.into()),
            }
        }
        rest
    }

    async fn go(&self, desk: &mut Desk<'_>, hands: &Hands) -> Result<Rest, EngineError> {
        let mut gate = Gate::new();
        self.resume(desk).await?;
        self.drain(desk).await?;
        if let Err(why) = self.settle(desk).await? {
            self.observer.trouble(&format!("people cannot be shown where it stands: {why}"));
        }
        loop {
            self.drain(desk).await?;
            let Some(state) = desk.state() else { return Ok(Rest::Missing) };
            let brain = self.model.brain();
            let kit = Kit {
                policy: &self.policy,
                tools: &self.tools,
                evidence: self.evidence.as_ref(),
                brain: &brain,
                site: self.site_prompt.as_deref(),
            };
            let now = desk.now();
            let effect = next(state, &kit, now);
            if hands.pause.is_canceled() && !matches!(effect, Effect::Record(_) | Effect::Rest) {
                return Ok(Rest::Paused);
            }
            match effect {
                Effect::Record(events) => desk.record_at(now, &events, 0).await?,
                Effect::Ask { asked, ask } => {
                    desk.record_at(now, &[Event::Asked(asked.clone())], 0).await?;
                    let mut pause = hands.pause.clone();
                    let session = desk.session().clone();
                    let thinking = async {
                        tokio::select! {
                            biased;
                            turn = think(self, &ask, &asked) => Some(turn),
                            () = pause.canceled() => None,
                            () = stop_letter(self, &session) => None,
                        }
                    };
                    let (turn, lease) = keep(desk, thinking).await?;
                    desk.lease = lease;
                    let Some(mut turn) = turn else { continue };
                    if let (Ok(answered), Some(state)) = (&mut turn, desk.state()) {
                        name_calls(state, answered.turn, &mut answered.calls);
                    }
                    let failed = turn.as_ref().err().cloned();
                    desk.record(&[event(turn)], 0).await?;
                    let shorter = desk.state().is_some_and(|state| state.too_long <= SHORTER);
                    if let Some(AnswerFailed { problem: why, .. }) =
                        failed.filter(|failed| !(failed.too_long && shorter))
                    {
                        return self.shown(desk, Rest::Stuck { why }).await;
                    }
                }
                // Without a sandbox nothing ran that the gate would have looked at.
                Effect::Request(requested)
                    if asks_unlooked(state, &requested) && look(desk, &mut gate, requested.step).await? => {}
                Effect::Request(requested) => {
                    desk.record_at(now, &[Event::ApprovalRequested(requested.clone())], 0).await?;
                    self.open_question(desk, &requested).await?;
                }
                Effect::Execute { .. } if self.is_held(desk, hands).await? => {}
                Effect::Execute { step, .. } if look(desk, &mut gate, step).await? => {}
                Effect::Execute { step, consumes, intended } => {
                    if execute(desk, &mut gate, hands, step, consumes, intended).await? == Went::Paused {
                        return Ok(Rest::Paused);
                    }
                }
                Effect::Refuse { step } => refuse(desk, &mut gate, step).await?,
                Effect::Withdraw { approval } => self.withdraw(desk, &approval).await?,
                Effect::Chore { call, chore } => self.chore(desk, &call, &chore).await?,
                Effect::Wait { until } => match self.wait(desk, hands, until).await? {
                    Some(rest) => return self.shown(desk, rest).await,
                    None => continue,
                },
                Effect::Deliver => {
                    if let Some(why) = self.deliver(desk).await? {
                        return Ok(Rest::Undelivered { why });
                    }
                }
                Effect::Rest => return self.shown(desk, Rest::Over).await,
            }
        }
    }

    /// Records that the session goes on after a pause, so that the pause does not count as work.
    async fn resume(&self, desk: &mut Desk<'_>) -> Result<(), EngineError> {
        let Some(state) = desk.state() else { return Ok(()) };
        let idle = self.clock.now().since(state.last_at) > PAUSE;
        if idle && state.open_approval().is_none() && state.concluded.is_none() {
            let resumed = Resumed { epoch: desk.lease.epoch() };
            desk.record(&[Event::Resumed(resumed)], 0).await?;
        }
        Ok(())
    }

    /// Holds a command back while somebody wants none to begin. Returns whether it did: then everything is looked at again.
    async fn is_held(&self, desk: &mut Desk<'_>, hands: &Hands) -> Result<bool, EngineError> {
        let Some(why) = self.freeze.frozen().await else { return Ok(false) };
        self.observer.trouble(&why);
        let (mut pause, session) = (hands.pause.clone(), desk.session().clone());
        let holding = async {
            tokio::select! {
                () = tokio::time::sleep(HOLD) => {}
                () = pause.canceled() => {}
                () = stop_letter(self, &session) => {}
            }
        };
        let ((), lease) = keep(desk, holding).await?;
        desk.lease = lease;
        Ok(true)
    }

    /// Makes what people see agree with the state before the session is given back.
    async fn shown(&self, desk: &mut Desk<'_>, rest: Rest) -> Result<Rest, EngineError> {
        Ok(match self.settle(desk).await? {
            Ok(()) => rest,
            Err(why) => Rest::Undelivered { why },
        })
    }

    async fn settle(&self, desk: &mut Desk<'_>) -> Result<Result<(), String>, EngineError> {
        let Some(state) = desk.state() else { return Ok(Ok(())) };
        let (settled, lease) = keep(desk, self.delivery.settle(state)).await?;
        desk.lease = lease;
        match settled {
            Ok(delivered) if delivered.is_empty() => Ok(Ok(())),
            Ok(delivered) => {
                let events: Vec<Event> = delivered.into_iter().map(Event::Delivered).collect();
                desk.record(&events, 0).await.map(Ok)
            }
            Err(why) => Ok(Err(why)),
        }
    }

    async fn deliver(&self, desk: &mut Desk<'_>) -> Result<Option<String>, EngineError> {
        let Some(state) = desk.state() else { return Ok(None) };
        let text = report::rca(state);
        let bringing = self.delivery.deliver(state, &text);
        let (brought, lease) = keep(desk, bringing).await?;
        desk.lease = lease;
        match brought {
            Ok(place) => {
                let delivered =
                    Delivered { what: Delivered::REPORT.to_owned(), place, digest: Digest::of(&text) };
                desk.record(&[Event::Delivered(delivered)], 0).await?;
                Ok(None)
            }
            Err(why) => Ok(Some(why)),
        }
    }
}
