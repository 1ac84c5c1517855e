//! Running commands and file tasks: through the gate, or letting the gate note that a command does not run.

use crate::approver::LedgerApprover;
use crate::arrive::stop_message;
use crate::drive::DriveControl;
use crate::owned::{OwnedSession, hold_lease, retry_until_available};
use crate::{Engine, EngineError, OpenShell, ShellError};
use ghost_base::causes;
use ghost_investigate::decision::observed_file_task;
use ghost_investigate::event::{
    ApprovalExpired, ApprovalRequested, DeclaredScript, Done, Event, Executing, Intent, StepId,
};
use ghost_investigate::known_for_command;
use ghost_investigate::state::{State, Step};
use ghost_investigate::tool::{Evidence, FileTask};
use ghost_shell::{Cancel, CancelSignal, Policy, Response, Ruling, Shell};
use ghost_store::{ApprovalId, ApprovalState, Consumed, StoreError};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How often the observer is notified that a command still runs.
pub(super) const RUNNING_NOTICE_INTERVAL: Duration = Duration::from_secs(5);

/// The gate of one session, opened when it is first needed.
pub(super) struct Gate {
    pub(super) approver: Arc<LedgerApprover>,
    shell: Option<Shell>,
}

/// Whether the session may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExecuteOutcome {
    /// It may.
    Continue,
    /// The caller wants it to pause. Nothing is recorded of the running command: it only reads, and runs again.
    Paused,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { approver: Arc::new(LedgerApprover::default()), shell: None }
    }

    pub(super) fn open(&mut self, engine: &Engine, state: &State) -> Result<&mut Shell, EngineError> {
        let shell = match self.shell.take() {
            Some(shell) => shell,
            None => {
                let approver = Arc::clone(&self.approver);
                let builder = (engine.open_shell)(state)?;
                builder.approver(approver).build().map_err(|error| ShellError::from(causes(&error)))?
            }
        };
        Ok(self.shell.insert(shell))
    }

    /// Judges a command as the gate would now; `None` where it is a script that the policy does not declare any more.
    fn judge(&mut self, engine: &Engine, state: &State, step: &Step) -> Result<Option<Ruling>, EngineError> {
        let known = ghost_investigate::known_for_step(state, step, &engine.policy, engine.evidence.as_ref());
        let shell = self.open(engine, state)?;
        shell.set_known(known);
        let Some(DeclaredScript { carrier, script, variables }) = step.scripted() else {
            return Ok(Some(shell.judge(step.current())));
        };
        let filled = shell.policy().declared(carrier, script, variables, step.current());
        Ok(filled.ok().map(|filled| shell.judge_script(carrier, &filled)))
    }

    async fn run(
        &mut self,
        engine: &Engine,
        state: &State,
        step: &Step,
        cancel: CancelSignal,
    ) -> Result<Response, EngineError> {
        self.approver.arm(state, step);
        let known = ghost_investigate::known_for_step(state, step, &engine.policy, engine.evidence.as_ref());
        let shell = self.open(engine, state)?;
        shell.set_known(known);
        shell.begin_turn(turn(state));
        let response = run(shell, step, cancel).await;
        self.approver.disarm();
        Ok(response)
    }
}

/// Returns the turn that a command belongs to; none where it is checked whether what was found is still so.
fn turn(state: &State) -> Option<u64> {
    state.rechecking.is_none().then(|| u64::from(state.spent.turns))
}

/// Runs a command. A declared script runs as the policy declares it now, or not at all: never as the text that was proposed.
pub(super) async fn run(shell: &Shell, step: &Step, cancel: CancelSignal) -> Response {
    let Some(DeclaredScript { carrier, script, variables }) = &step.script else {
        return shell.run_until(&step.command, &step.reasoning, cancel).await;
    };
    match shell.policy().declared(carrier, script, variables, &step.command) {
        Ok(filled) => shell.run_script(carrier, &filled, &step.reasoning, cancel).await,
        Err(why) => shell.refuse(&step.command, &step.reasoning, &why.to_string()).await,
    }
}

/// Lets the gate look at what the words of a command do not say. What it finds is recorded as the judgement that a human is asked
/// about. Returns whether it found something that the record does not say yet.
pub(super) async fn reclassify(
    owned: &mut OwnedSession<'_>,
    gate: &mut Gate,
    id: StepId,
) -> Result<bool, EngineError> {
    let engine = owned.engine;
    let Some((state, step)) = snapshot(owned, id) else { return Ok(false) };
    if !ghost_investigate::may_be_reclassified(&step) {
        return Ok(false);
    }
    let Some(ruling) = gate.judge(engine, &state, &step)? else { return Ok(false) };
    let Some(found) = ghost_investigate::reclassified(&step, &ruling) else { return Ok(false) };
    owned.record(&[Event::Classified(found)], 0).await?;
    Ok(true)
}

/// Lets the gate write down that a command does not run, and records its end.
pub(super) async fn refuse(
    owned: &mut OwnedSession<'_>,
    gate: &mut Gate,
    id: StepId,
) -> Result<(), EngineError> {
    let engine = owned.engine;
    let Some((state, step)) = snapshot(owned, id) else { return Ok(()) };
    let response = gate.run(engine, &state, &step, CancelSignal::never()).await?;
    owned.record(&[Event::Done(done(id, &response))], 0).await
}

/// Uses the consent up, records that the command runs, runs it, and records its end.
pub(super) async fn execute(
    owned: &mut OwnedSession<'_>,
    gate: &mut Gate,
    control: &DriveControl,
    id: StepId,
    consumes: Option<String>,
    intended: bool,
) -> Result<ExecuteOutcome, EngineError> {
    let engine = owned.engine;
    let Some((state, step)) = snapshot(owned, id) else { return Ok(ExecuteOutcome::Continue) };
    let risky = consumes.is_some();
    // A consent to a plan is used up at its first command; that of the others is what the ledger says since.
    let own = |name: &&str| state.approvals.get(*name).is_some_and(|asked| asked.requested.step == id);
    if let Some(approval) = consumes.as_deref().filter(|_| !intended).filter(own)
        && !consume(owned, &state, &step, approval).await?
    {
        let expired = ApprovalExpired { approval: approval.to_owned(), step: id };
        owned.record(&[Event::ApprovalExpired(expired)], 0).await?;
        return Ok(ExecuteOutcome::Continue);
    }
    // The gate has to be open before anything says that the command runs.
    gate.open(engine, &state)?;
    let executing = Event::Executing(Executing { step: id, epoch: owned.lease.epoch() });
    let digest = step.round().map(|round| round.classified.digest);
    let intent = digest.map(|digest| Event::Intent(Intent { step: id, digest, approval: consumes.clone() }));
    match intent.filter(|_| !intended) {
        Some(intent) if risky => {
            owned.record(&[intent], 0).await?;
            owned.record(&[executing], 0).await?;
        }
        Some(intent) => owned.record(&[intent, executing], 0).await?,
        None => owned.record(&[executing], 0).await?,
    }
    if risky {
        still_ours(owned).await?;
    }
    let (cancel, signal) = Cancel::new();
    let run = gate.run(engine, &state, &step, signal);
    let current = owned.state().cloned().unwrap_or_else(|| state.clone());
    let attended = attend(engine, &current, &step, control, &cancel, risky, run);
    let (response, lease) = hold_lease(owned, attended).await?;
    owned.lease = lease;
    match response {
        Some(response) => {
            owned.record(&[Event::Done(done(id, &response?))], 0).await?;
            Ok(ExecuteOutcome::Continue)
        }
        None => Ok(ExecuteOutcome::Paused),
    }
}

/// Makes sure, as late as possible, that nobody took the session over between the record and the run: an owner may have slept
/// in between, and somebody may have been asked about the command meanwhile.
pub(super) async fn still_ours(owned: &mut OwnedSession<'_>) -> Result<(), EngineError> {
    let (engine, lease) = (owned.engine, owned.lease.clone());
    match retry_until_available(engine, || engine.store.renew(&lease)).await {
        Ok(renewed) => {
            owned.lease = renewed;
            Ok(())
        }
        Err(StoreError::Fenced) => Err(EngineError::Fenced),
        Err(error) => Err(error.into()),
    }
}

/// Waits for a command, and for whoever wants it to end; `None` where it was given up because it only reads.
async fn attend<T>(
    engine: &Engine,
    state: &State,
    step: &Step,
    control: &DriveControl,
    cancel: &Cancel,
    risky: bool,
    run: impl Future<Output = T>,
) -> Option<T> {
    let began = engine.clock.now();
    let mut run = std::pin::pin!(run);
    let mut stopped = std::pin::pin!(stop_message(engine, &state.session));
    let (mut pause, mut asked) = (control.pause.clone(), false);
    let mut beat = tokio::time::interval(RUNNING_NOTICE_INTERVAL);
    beat.reset();
    loop {
        tokio::select! {
            biased;
            response = &mut run => return Some(response),
            () = pause.canceled(), if !asked => {
                if !risky {
                    return None;
                }
                asked = true;
                engine.observer.trouble("an approved command is running; the session pauses when it ends");
            }
            () = &mut stopped, if !asked => {
                asked = true;
                cancel.cancel();
            }
            _ = beat.tick() => engine.observer.running(state, step.id, engine.clock.now().since(began)),
        }
    }
}

/// Uses a consent up. It may have been used up before, by an owner that did not come to record what for: then nothing ran,
/// because an owner records first and runs then.
pub(super) async fn consume(
    owned: &mut OwnedSession<'_>,
    state: &State,
    step: &Step,
    approval: &str,
) -> Result<bool, EngineError> {
    let (Ok(id), Some(asked)) = (approval.parse::<ApprovalId>(), state.approvals.get(approval)) else {
        return Ok(false);
    };
    let bind = |command| ApprovalRequested::bind(command, &asked.requested.plan).to_string();
    let shown = step.round().map(|round| bind(round.classified.digest));
    loop {
        let (engine, lease) = (owned.engine, owned.lease.clone());
        match retry_until_available(engine, || engine.store.consume(&id, &lease)).await {
            Ok(Consumed::Now(approval)) => return Ok(Some(approval.record.digest) == shown),
            Ok(Consumed::No(ApprovalState::Consumed { .. })) => return Ok(true),
            Ok(Consumed::No(_) | Consumed::Unknown) => return Ok(false),
            Err(StoreError::Fenced) => owned.take_again().await?,
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn snapshot(owned: &OwnedSession<'_>, id: StepId) -> Option<(State, Step)> {
    let state = owned.state()?;
    Some((state.clone(), state.step(id)?.clone()))
}

pub(super) fn done(step: StepId, response: &Response) -> Done {
    let metadata = response.output_metadata.as_ref();
    Done {
        step,
        status: word(&response.status),
        classification: response.classification.as_str().to_owned(),
        action: response.action.as_str().to_owned(),
        exit_code: response.exit_code,
        output: response.output.clone(),
        stderr: response.stderr.clone(),
        error: response.error.map(|problem| problem.as_str().to_owned()),
        reason: response.reason.clone(),
        hint: response.hint.clone(),
        modified_command: response.modified_command.clone(),
        audit_id: response.audit_id.clone(),
        audit_head: response.audit_head.clone(),
        duration_ms: response.duration_seconds.map(millis),
        evidence: metadata.and_then(|metadata| metadata.evidence.clone()),
        output_metadata: metadata
            .map(|metadata| serde_json::to_value(metadata).unwrap_or_default())
            .unwrap_or_default(),
        restored: false,
    }
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn millis(seconds: f64) -> u64 {
    u64::try_from(Duration::try_from_secs_f64(seconds).unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

/// Judges a command as the gate would in a session. Nothing runs, and nothing is recorded.
///
/// # Errors
/// Says why no gate can be made.
pub fn preview(
    state: &State,
    command: &str,
    open_shell: &OpenShell,
    policy: &Policy,
    evidence: &dyn Evidence,
) -> Result<Ruling, ShellError> {
    let known = known_for_command(state, policy, evidence, command);
    open_shell(state)?.known(known).judge(command).map_err(|error| error.to_string().into())
}

impl Engine {
    /// Runs a file task, keeps its result, and records it.
    pub(super) async fn run_file_task(
        &self,
        owned: &mut OwnedSession<'_>,
        call: &str,
        task: &FileTask,
    ) -> Result<(), EngineError> {
        let Some(state) = owned.state().cloned() else { return Ok(()) };
        let (done, lease) = hold_lease(owned, self.file_tasks.run(&state, task)).await?;
        owned.lease = lease;
        let text = done.unwrap_or_else(|why| json!({ "error": why.to_string() }).to_string());
        let digest = self.evidence.keep(&text)?;
        let Some(call) = state.call_named(call) else { return Ok(()) };
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let observed = observed_file_task(&state, call, task, digest, bytes);
        owned.record(&[Event::Observed(observed)], 0).await
    }
}
