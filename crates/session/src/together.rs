//! Declared scripts of one call that need nothing of each other, reads or approved measurements: side by side, each recorded when it
//! begins and when it ends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::arrive::stop_message;
use crate::drive::DriveControl;
use crate::execute::{ExecuteOutcome, Gate, RUNNING_NOTICE_INTERVAL, consume, done, run, still_ours};
use crate::owned::{OwnedSession, hold_lease};
use crate::{Engine, EngineError};
use ghost_investigate::event::{ApprovalExpired, Event, Executing, Intent, StepId};
use ghost_investigate::state::{Phase, State, Step};
use ghost_shell::{Cancel, CancelSignal, Response, Shell};

/// So many run at once. A server for ssh refuses some of those that sign in when ten others do (`MaxStartups`), and a jump host is in
/// front of all of them.
pub const MAX_AT_ONCE: usize = 10;

/// Runs steps, and records the end of each as soon as it is over. One that hangs keeps none but those that find no room.
pub(super) async fn execute_together(
    owned: &mut OwnedSession<'_>,
    gate: &mut Gate,
    control: &DriveControl,
    ids: &[StepId],
) -> Result<ExecuteOutcome, EngineError> {
    let engine = owned.engine;
    let Some(state) = owned.state().cloned() else { return Ok(ExecuteOutcome::Continue) };
    let mut steps = Vec::new();
    for step in ids.iter().filter_map(|id| state.step(*id)) {
        if is_covered(owned, &state, step).await? {
            steps.push(step.clone());
        }
    }
    let asked = steps.iter().any(|step| approval(step).is_some());
    // The gate has to be open before anything says that a command runs.
    gate.approver.arm_all(&state, &steps);
    let approver = Arc::clone(&gate.approver);
    let shell: &Shell = gate.open(engine, &state)?;
    let (cancel, signal) = Cancel::new();
    let mut stopped = std::pin::pin!(stop_message(engine, &state.session));
    let (mut waiting, mut is_stopped, began) = (steps.iter(), false, engine.clock.now());
    let mut running = FuturesUnordered::new();
    loop {
        let room = if is_stopped { 0 } else { MAX_AT_ONCE.saturating_sub(running.len()) };
        let next: Vec<&Step> = waiting.by_ref().take(room).collect();
        if !next.is_empty() {
            owned.record(&begun(&next, owned.lease.epoch()), 0).await?;
            if asked {
                still_ours(owned).await?;
            }
            running.extend(next.into_iter().map(|step| one(shell, step, signal.clone())));
        }
        if running.is_empty() {
            approver.disarm();
            return Ok(ExecuteOutcome::Continue);
        }
        let current = owned.state().cloned().unwrap_or_else(|| state.clone());
        let mut pause = control.pause.clone();
        let mut beat = tokio::time::interval(RUNNING_NOTICE_INTERVAL);
        beat.reset();
        let attended = async {
            loop {
                tokio::select! {
                    biased;
                    ended = running.next() => return ended,
                    // What was approved runs to its end.
                    () = pause.canceled(), if !asked => return None,
                    () = &mut stopped, if !is_stopped => {
                        is_stopped = true;
                        cancel.cancel();
                    }
                    _ = beat.tick() => notice(engine, &current, engine.clock.now().since(began)),
                }
            }
        };
        let (ended, lease) = hold_lease(owned, attended).await?;
        owned.lease = lease;
        // What only reads is given up for a pause, and runs again.
        let Some((step, response)) = ended else { return Ok(ExecuteOutcome::Paused) };
        owned.record(&[Event::Done(done(step, &response))], 0).await?;
    }
}

async fn one(shell: &Shell, step: &Step, cancel: CancelSignal) -> (StepId, Response) {
    (step.id, run(shell, step, cancel).await)
}

/// Returns the question whose answer is used up for a step.
fn approval(step: &Step) -> Option<String> {
    match &step.phase {
        Phase::Decided { approval, .. } => Some(approval.clone()),
        Phase::Proposed
        | Phase::Judged
        | Phase::AwaitingApproval { .. }
        | Phase::Expired { .. }
        | Phase::Intended { .. }
        | Phase::Executing { .. }
        | Phase::Unknown
        | Phase::Done => None,
    }
}

/// Uses the consent to a step up, where it takes one. Where it cannot be used up any more, that is recorded, and the step does not run.
async fn is_covered(owned: &mut OwnedSession<'_>, state: &State, step: &Step) -> Result<bool, EngineError> {
    let Some(approval) = approval(step) else { return Ok(true) };
    if consume(owned, state, step, &approval).await? {
        return Ok(true);
    }
    owned.record(&[Event::ApprovalExpired(ApprovalExpired { approval, step: step.id })], 0).await?;
    Ok(false)
}

/// Returns what is recorded before steps run.
fn begun(steps: &[&Step], epoch: u64) -> Vec<Event> {
    let mut events = Vec::new();
    for step in steps {
        let is_intended = matches!(step.phase, Phase::Intended { .. } | Phase::Executing { .. });
        let digest = step.round().filter(|_| !is_intended).map(|round| round.classified.digest);
        let approval = approval(step);
        events.extend(digest.map(|digest| Event::Intent(Intent { step: step.id, digest, approval })));
        events.push(Event::Executing(Executing { step: step.id, epoch }));
    }
    events
}

/// Says that something still runs.
fn notice(engine: &Engine, state: &State, since: Duration) {
    if let Some(step) = state.open_step() {
        engine.observer.running(state, step.id, since);
    }
}
