//! `capture_start`: a packet capture, from the first look at the machines to the removal of what it left.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::capture_plan::Wanted;
use super::cloud;
use super::definition::{Definition, Finding, Work, arguments, long};
use crate::cli::capture::{document, gate, hinted};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::job::{Speaker, listened};
use crate::cli::mcp::schema::{self, any, list, maybe, object, text, whole};
use crate::cli::mcp::workplace::{WAIT, Workplace};
use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_capture_files::CaptureFolder;
use ghost_cloud::capture::{
    Analysis, AnalysisJob, CaptureExecutor, CaptureShell, CaptureStep, CaptureTask, CommandOutcome,
    FileProblem, Instruction, NextStep, SaveError, TaskStore, drive,
};
use ghost_shell::CancelSignal;
use ghost_tools::name::new_session;
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "capture_start",
    title: "Capture packets",
    description: "Captures the packets of one machine, or of both ends of a path together, through the cloud's own packet capture; fetches the files, analyzes them, and removes everything from the cloud again. Each change needs a human's consent, which whoever drives this client cannot give. It goes on when the call is canceled or `wait_seconds` are over: call again with `capture` to hear the rest, with `stop` to end it early. `state` is where it stands, `ends[].trouble` says what went wrong.",
    runs: Runs::Those(cloud::capture),
    lasts: long,
    input: schema::input::<Input>,
    output,
    work: Work::Task(start),
};

/// How often it is looked for a word that somebody left.
const INSTRUCTION_POLL_INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to capture. Or `capture`.
    wanted: Option<Wanted>,
    /// The id of a capture that was begun before: listen to it, or let it go on.
    capture: Option<String>,
    /// End it early, and keep what was recorded. Needs `capture`.
    #[serde(default)]
    stop: bool,
    /// Answer after so many seconds, whether or not it is over; 50 unless said.
    #[schemars(range(min = 0, max = 86_400))]
    wait_seconds: Option<u64>,
}

fn start(call: Call) -> Finding {
    Box::pin(run(call))
}

async fn run(mut call: Call) -> anyhow::Result<Found> {
    let input: Input = arguments(std::mem::take(&mut call.given))?;
    let place = Arc::clone(&call.place);
    let store = TaskStore::open(place.setup.data()?)?;
    let mut task = match (input.wanted, &input.capture) {
        (Some(wanted), None) if !input.stop => begun(&place, &store, wanted)?,
        (None, Some(id)) => loaded(&store, id)?,
        (Some(_), _) | (None, None) => {
            let error = anyhow::anyhow!("either `wanted` begins a capture, or `capture` names one");
            return Err(Hinted::new(error, "give one of the two; `stop` belongs to `capture`").into());
        }
    };
    let id = task.id();
    call.progress.tell(format!("capture {id}"));
    if input.stop && place.captures.running(&id).is_some() {
        store.leave(&id, Instruction::Stop)?;
    } else if input.stop {
        task.stop();
    } else if input.capture.is_some() && place.captures.running(&id).is_none() {
        task.resume();
    }
    let attendance = place.captures.attend(&id, {
        let (place, store) = (Arc::clone(&place), store.clone());
        move |speaker, leave| async move {
            attended(&place, store, task, speaker, leave).await.map_err(|error| format!("{error:#}"))
        }
    })?;
    let wait = input.wait_seconds.map_or(WAIT, Duration::from_secs);
    let problem = match listened(attendance, &mut call, wait).await {
        Some(Err(problem)) => Some(problem),
        Some(Ok(())) | None => None,
    };
    let mut document = document(&loaded(&store, &id)?);
    if let Some(fields) = document.as_object_mut() {
        let running = place.captures.running(&id).is_some();
        let next =
            running.then(|| format!("It goes on. Call capture_start with capture {id} to hear the rest."));
        fields.insert("running".to_owned(), json!(running));
        fields.insert("problem".to_owned(), json!(problem));
        fields.insert("next".to_owned(), json!(next));
    }
    Ok(document.into())
}

fn begun(place: &Workplace, store: &TaskStore, wanted: Wanted) -> anyhow::Result<CaptureTask> {
    let order = wanted.checked(&place.setup)?;
    let session = new_session("capture")?;
    let number = store.number(&session)?;
    let task = CaptureTask::new(session, number, order, SystemClock.now()).map_err(hinted)?;
    // It is found again from here on, whatever becomes of this process.
    store.save(&task)?;
    Ok(task)
}

fn loaded(store: &TaskStore, id: &str) -> anyhow::Result<CaptureTask> {
    Ok(store.load(id).map_err(|error| Hinted::new(error, "name a capture that capture_start began"))?)
}

/// Drives a capture until nothing more happens by itself, or the client is gone: then the platform goes on, and so can anybody later.
async fn attended(
    place: &Workplace,
    store: TaskStore,
    mut task: CaptureTask,
    speaker: Speaker,
    leave: CancelSignal,
) -> anyhow::Result<()> {
    let Some(_held) = store.hold(&task.id())? else {
        anyhow::bail!("another process works on {}", task.id());
    };
    task.order.folder = place.setup.config.capture.folder.display().to_string();
    let says = speaker.clone();
    let approver = place.approver(&task.id(), leave.clone(), move |line| says.say(line))?;
    let gate = gate(&place.setup, &task.session, approver, std::slice::from_ref(&task))?;
    let executor = Executor { gate, store, id: task.id(), speaker, leave };
    drive(&mut task, &executor, &SystemClock).await?;
    Ok(())
}

/// A capture that a client began.
struct Executor {
    gate: CaptureShell,
    store: TaskStore,
    id: String,
    speaker: Speaker,
    leave: CancelSignal,
}

#[async_trait]
impl CaptureExecutor for Executor {
    async fn run(&self, step: &CaptureStep, plan: &[String]) -> CommandOutcome {
        self.gate.run(step, plan, self.leave.clone()).await
    }

    async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), FileProblem> {
        CaptureFolder::new(self.gate.captures()).verify(file, bytes).await
    }

    async fn analyze(&self, work: &[AnalysisJob]) -> Analysis {
        CaptureFolder::new(self.gate.captures()).analyze(work).await
    }

    async fn wait(&self, until: Timestamp) -> Instruction {
        let mut leave = self.leave.clone();
        loop {
            if leave.is_canceled() {
                return Instruction::Leave;
            }
            match self.store.word(&self.id) {
                Instruction::GoOn => {}
                word @ (Instruction::Stop | Instruction::Cancel | Instruction::Leave) => return word,
            }
            let left = until.since(SystemClock.now());
            if left.is_zero() {
                return Instruction::GoOn;
            }
            tokio::select! {
                () = tokio::time::sleep(left.min(INSTRUCTION_POLL_INTERVAL)) => {}
                () = leave.canceled() => {}
            }
        }
    }

    fn save(&self, task: &CaptureTask) -> Result<(), SaveError> {
        self.store.save(task).map_err(|error| SaveError(format!("{:#}", anyhow::Error::from(error))))
    }

    fn tell(&self, task: &CaptureTask, next: &NextStep) {
        let what = match next {
            NextStep::Run(step) => step.why.clone(),
            NextStep::Verify { file, .. } => format!("reading {file}"),
            NextStep::Analyze(_) => "analyzing what was captured".to_owned(),
            NextStep::Wait { why, .. } => why.clone(),
            NextStep::Over => return,
        };
        self.speaker.say(format!("{} · {what}", task.state().word()));
    }
}

fn output() -> Value {
    object(&[
        ("id", text()),
        ("session", text()),
        ("state", text()),
        ("opened", text()),
        ("resource_group", text()),
        ("folder", text()),
        ("ends", list(any())),
        ("files", list(text())),
        ("findings", list(text())),
        ("critical", whole()),
        ("trouble", maybe(any())),
        ("needs_cleanup", list(text())),
        ("running", schema::truth()),
        ("problem", maybe(text())),
        ("next", maybe(text())),
    ])
}
