//! The second witness: the audit of this machine. It records the use of a consent on its own disk before the command begins, so it
//! knows of runs that a store which lost its last writes does not know of.
//!
//! It is asked before anything runs, expires or is asked again. What the ledger lacks is written back, once.

use crate::EngineError;
use crate::owned::OwnedSession;
use futures_util::future::BoxFuture;
use ghost_base::{Digest, Timestamp};
use ghost_investigate::event::{
    ApprovalDecided, ApprovalRequested, ApprovalVoted, Done, Event, Executing, Intent, Reply, StepId, Unknown,
};
use ghost_investigate::state::{Approval, Phase, State, Step};
use ghost_shell::audit::{Run, RunEnd};
use ghost_shell::{ClipLimits, clip, redact};

/// Returns the runs that the audit holds and the ledger does not, in the order in which they began.
fn missing<'a>(state: &'a State, runs: &'a [Run]) -> impl Iterator<Item = &'a Run> {
    let shows = |step: &Step, run: &Run| {
        step.rounds.iter().any(|round| round.classified.digest.to_string() == run.consent.digest)
    };
    let is_known = move |run: &&Run| {
        let consented = |step: &Step| step.consents.contains(&run.consent.question) || step.outcome_unknown;
        state.steps.iter().any(|step| shows(step, run) && consented(step))
    };
    runs.iter().filter(move |run| !is_known(run))
}

/// Returns the open step that a run is of, where the ledger knows the question that allowed it.
fn ran<'a>(state: &'a State, run: &Run) -> Option<(&'a Approval, &'a Step)> {
    let asked = state.approvals.get(&run.consent.question)?;
    let is_of = |step: &&Step| {
        let is_asked = step.id == asked.requested.step
            || state.covering(step).is_some_and(|covering| covering.requested == asked.requested);
        is_asked && step.phase != Phase::Done && current(step) == Some(run.consent.digest.clone())
    };
    Some((asked, state.steps.iter().find(is_of)?))
}

fn current(step: &Step) -> Option<String> {
    step.round().map(|round| round.classified.digest.to_string())
}

/// Writes back what the audit knows of questions that the ledger holds. Returns whether it wrote anything.
pub(super) fn restore<'s>(owned: &'s mut OwnedSession<'_>) -> BoxFuture<'s, Result<bool, EngineError>> {
    Box::pin(async move {
        let mut is_restored = false;
        loop {
            let Some(state) = owned.state() else { return Ok(is_restored) };
            if state.open_step().is_none() {
                return Ok(is_restored);
            }
            let runs = owned.runs()?;
            let Some(state) = owned.state() else { return Ok(is_restored) };
            let found = missing(state, &runs).find_map(|run| Some((run, ran(state, run)?)));
            let Some((run, (asked, step))) = found else { return Ok(is_restored) };
            let events = events(owned, run, &asked.requested, asked.ending.is_none(), step.id);
            log(owned, run);
            owned.record(&events, 0).await?;
            is_restored = true;
        }
    })
}

/// Makes sure that a command which is about to run or to be asked about did not run before without the ledger's knowledge. Returns
/// whether it did: then that is on record now.
pub(super) fn settle<'s>(
    owned: &'s mut OwnedSession<'_>,
    id: StepId,
    requested: Option<&'s ApprovalRequested>,
) -> BoxFuture<'s, Result<bool, EngineError>> {
    Box::pin(async move {
        let runs = owned.runs()?;
        let Some(state) = owned.state() else { return Ok(false) };
        let Some(step) = state.step(id).filter(|step| !step.outcome_unknown) else { return Ok(false) };
        let digest = current(step);
        let Some(run) = missing(state, &runs).find(|run| Some(&run.consent.digest) == digest.as_ref()) else {
            return Ok(false);
        };
        let events = match requested.filter(|asked| asked.approval == run.consent.question) {
            // It is the very question that was answered.
            Some(asked) => {
                let mut all = vec![Event::ApprovalRequested(asked.clone())];
                all.extend(events(owned, run, asked, true, id));
                all
            }
            None if ran(state, run).is_some() => return restore(owned).await,
            // The same command ran for a question that is lost: a person decides whether it runs once more.
            None => vec![Event::Unknown(Unknown { step: id, epoch: owned.lease.epoch() })],
        };
        log(owned, run);
        owned.record(&events, 0).await?;
        Ok(true)
    })
}

fn log(owned: &OwnedSession<'_>, run: &Run) {
    let session = owned.session();
    tracing::warn!(session.id = %session, audit.id = %run.audit_id, "run of session {session} restored from the audit: the store had lost it");
}

/// Returns what the ledger lacks of a run: that it was allowed, that it began, and how it ended, if it is known.
fn events(
    owned: &OwnedSession<'_>,
    run: &Run,
    asked: &ApprovalRequested,
    is_undecided: bool,
    step: StepId,
) -> Vec<Event> {
    let epoch = owned.lease.epoch();
    let mut events = Vec::new();
    if is_undecided {
        let approver = run.approver.as_ref();
        let who = approver.map(|approver| approver.who.clone()).unwrap_or_default();
        let at = approver.and_then(|approver| approver.at.parse::<Timestamp>().ok());
        let (approval, at) = (asked.approval.clone(), at.unwrap_or_else(|| owned.now()));
        let voted = ApprovalVoted { approval: approval.clone(), who: who.clone(), approves: true, at };
        let decided =
            ApprovalDecided { approval, step: asked.step, answer: Reply::Approve, who, name: None, at };
        events.extend([Event::ApprovalVoted(voted), Event::ApprovalDecided(decided)]);
    }
    if let Ok(digest) = run.consent.digest.parse::<Digest>() {
        events.push(Event::Intent(Intent { step, digest, approval: Some(asked.approval.clone()) }));
    }
    events.push(Event::Executing(Executing { step, epoch }));
    events.push(match &run.end {
        Some(end) => Event::Done(done(owned, run, end, step)),
        None => Event::Unknown(Unknown { step, epoch }),
    });
    events
}

fn done(owned: &OwnedSession<'_>, run: &Run, end: &RunEnd, step: StepId) -> Done {
    let found = owned.state().and_then(|state| state.step(step));
    let judged = found.and_then(|step| step.round()).map(|round| &round.classified);
    let changed = found.is_some_and(|step| step.rounds.len() > 1);
    let evidence = end.evidence.as_ref().map(|kept| kept.sha256.clone());
    // The text is kept redacted; what another machine kept is not here.
    let text = evidence.as_deref().and_then(|digest| owned.engine.evidence.text(digest)).unwrap_or_default();
    Done {
        step,
        status: end.status.clone(),
        classification: judged.map(|judged| judged.verdict.clone()).unwrap_or_default(),
        action: run.action.clone(),
        exit_code: end.exit_code,
        output: clip(&redact(&text), ClipLimits::MODEL).as_str().to_owned(),
        stderr: String::new(),
        error: end.error.clone(),
        reason: judged.map(|judged| judged.reason.clone()).unwrap_or_default(),
        hint: None,
        modified_command: judged.filter(|_| changed).map(|judged| judged.command.clone()),
        audit_id: run.audit_id.clone(),
        audit_head: end.hash.clone(),
        duration_ms: end.duration_ms,
        output_metadata: evidence
            .as_ref()
            .map(|digest| serde_json::json!({ "evidence": digest }))
            .unwrap_or_default(),
        evidence,
        restored: true,
    }
}
