//! A capture of a session, replayed from the record of the calls that belong to it.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::argument::{fail, malformed};
use super::capture_traffic::{self, CAPTURE};
use crate::event::ObservationId;
use crate::state::{CallState, State as Session};
use crate::tool::call_replay::CallReplay;
use crate::tool::{CallContext, FileTask, Site, ToolAction};
use ghost_base::Timestamp;
use ghost_cloud::capture::{
    Analysis, AnalysisJob, CaptureTask, CommandOutcome, FileProblem, NextStep, Phase, Role, State, StepKind,
};
use ghost_cloud::operation::Issue;

/// No capture takes more steps; this guards against an endless loop.
const MAX_STEPS: usize = 2_000;

/// A capture as far as the record goes.
#[derive(Debug, Clone)]
pub(super) struct ReplayedCapture {
    pub(super) task: CaptureTask,
    /// Why a human denied that it begins.
    pub(super) denied: Option<String>,
    /// What the analysis tells of each file, the source's first, as JSON.
    pub(super) semantics: Vec<Option<String>>,
    pub(super) seen: Vec<ObservationId>,
    /// Whether what is left in the cloud is removed behind the report, so that no answer waits for it.
    pub(super) removes_later: bool,
    /// When the last result arrived.
    clock: Timestamp,
}

/// The result of reading a file.
#[derive(Deserialize)]
struct Verified {
    packets: u64,
    #[serde(default)]
    cut_off: bool,
}

impl ReplayedCapture {
    /// Takes a capture at its beginning.
    pub(super) fn new(task: CaptureTask) -> Self {
        let clock = task.opened;
        Self { task, denied: None, semantics: Vec::new(), seen: Vec::new(), removes_later: false, clock }
    }

    /// Begins another call, not before it was made.
    pub(super) fn call(&mut self, at: Timestamp) {
        self.clock = self.clock.max(at);
        self.seen.clear();
    }

    /// Replays the capture along a call, until somebody else has to act.
    ///
    /// A wait moves the clock exactly to its end, and a result to its time in the record, so that a later replay is identical.
    pub(super) fn replay(&mut self, replay: &mut CallReplay<'_, '_>) -> Result<(), Box<ToolAction>> {
        let result = self.advance(replay);
        self.seen = replay.observations();
        result
    }

    fn advance(&mut self, replay: &mut CallReplay<'_, '_>) -> Result<(), Box<ToolAction>> {
        let mut clock = self.clock;
        for _ in 0..MAX_STEPS {
            match self.task.next(clock) {
                NextStep::Run(step) if self.removes_later && step.what.is_removal() && !replay.has_more() => {
                    return Ok(());
                }
                NextStep::Run(step) => {
                    let plan = self.task.plan(&step);
                    let (answer, at) = replay.command(&step.command(), &step.why, &plan)?;
                    if !self.task.begin(&step) {
                        return Err(fail("the capture is in a state that cannot be", "start another one"));
                    }
                    clock = clock.max(at);
                    self.note_denial(&step.what, &answer);
                    self.task.on_result(&step.what, step.end, &answer, clock);
                    self.clock = clock;
                }
                NextStep::Verify { end, file, bytes } => {
                    let text = replay.file_task(FileTask::Verify { file, bytes })?;
                    clock = clock.max(replay.now());
                    self.task.verified(end, verified(&text), clock);
                    self.clock = clock;
                }
                NextStep::Analyze(work) => {
                    let work: Vec<_> = work.iter().map(named).collect();
                    let text = replay.file_task(FileTask::Analyze { work: work.clone() })?;
                    clock = clock.max(replay.now());
                    let (analysis, semantics) = analyzed(&text, &work);
                    self.semantics = semantics;
                    self.task.analyzed(analysis);
                    self.clock = clock;
                }
                NextStep::Wait { until, why: _ } => {
                    replay.wait(until)?;
                    clock = clock.max(until);
                }
                NextStep::Over => return Ok(()),
            }
        }
        Err(fail("the capture does not come to an end", "cancel_task ends it"))
    }

    fn note_denial(&mut self, what: &StepKind, answer: &CommandOutcome) {
        if let (StepKind::Create, CommandOutcome::Denied { reason, .. }) = (what, answer) {
            self.denied.get_or_insert_with(|| reason.clone());
        }
    }

    /// Says whether any packet is here.
    pub(super) fn is_kept(&self) -> bool {
        self.task.ends.iter().any(|end| matches!(end.phase, Phase::Kept { .. }))
    }

    /// Says whether nothing is left to do but to remove what is in the cloud.
    pub(super) fn waits_for_removal(&self) -> bool {
        self.task.state() == State::CleaningUp
    }

    /// Says whether anything of it is, or may be, left in the cloud.
    pub(super) fn remains(&self) -> bool {
        self.task.ends.iter().any(|end| end.capture.remains() || end.blob.remains())
    }
}

fn named(work: &AnalysisJob) -> (String, String, String) {
    let role = match work.role {
        Role::Only => "only",
        Role::Source => "source",
        Role::Destination => "destination",
    };
    (role.to_owned(), work.name.clone(), work.pair.clone())
}

pub(super) fn verified(text: &str) -> Result<(u64, bool), FileProblem> {
    match serde_json::from_str::<Verified>(text) {
        Ok(read) => Ok((read.packets, read.cut_off)),
        Err(_) => {
            let failure: Option<Value> = serde_json::from_str(text).ok();
            let why = failure.as_ref().and_then(|failure| failure.get("error")?.as_str());
            Err(FileProblem(why.unwrap_or(text).chars().take(300).collect()))
        }
    }
}

/// Reads the result of an analysis: `{"analysis": …, "documents": {"NAME": …}}`, a document for each file, or `null` where none can be
/// read. The documents come in the order of the work.
pub(super) fn analyzed(text: &str, work: &[(String, String, String)]) -> (Analysis, Vec<Option<String>>) {
    let whole: Value = serde_json::from_str(text).unwrap_or_default();
    let analysis = whole.get("analysis").and_then(|analysis| Analysis::deserialize(analysis).ok());
    let error = || whole.get("error").and_then(Value::as_str).unwrap_or("the analysis failed");
    let analysis = analysis.unwrap_or_else(|| Analysis {
        files: Vec::new(),
        findings: Vec::new(),
        critical: 0,
        trouble: Some(Issue::new(error())),
    });
    let documents = whole.get("documents");
    let document = |name: &str| documents?.get(name).filter(|found| !found.is_null()).map(Value::to_string);
    (analysis, work.iter().map(|(_, name, _)| document(name)).collect())
}

/// The name of the tool that cancels.
pub(super) const CANCEL: &str = "cancel_task";
/// The name of the tool that cleans up.
pub(super) const CLEANUP: &str = "cleanup_task";

/// What begins a capture, in a command.
const BEGINS: &str = "packet-capture create";

/// Says whether a call got so far that there is a capture of it.
fn is_capture(call: &CallState) -> bool {
    call.call.tool == CAPTURE && !call.steps.is_empty()
}

/// Returns the calls before this one, oldest first.
fn before<'a>(context: &CallContext<'a>) -> impl Iterator<Item = &'a CallState> {
    let own = context.call.call.id.clone();
    context.state.calls().take_while(move |call| call.call.id != own)
}

/// Returns when a call was made.
pub(super) fn made(state: &Session, call: &CallState) -> Timestamp {
    let turn = state.turns().rev().find(|turn| turn.calls.iter().any(|one| one.call.id == call.call.id));
    turn.map_or(state.opened_at, |turn| turn.at)
}

fn is_about(call: &CallState, id: &str) -> bool {
    call.call.arguments.get("task_id").and_then(Value::as_str) == Some(id)
}

/// Makes the capture of a call, at its beginning.
pub(super) fn fresh(
    arguments: &Map<String, Value>,
    context: &CallContext<'_>,
    site: &Site,
) -> Result<ReplayedCapture, Box<ToolAction>> {
    let request = capture_traffic::capture_request(&capture_traffic::read(arguments)?, context, site)?;
    let earlier = before(context).filter(|call| is_capture(call)).count();
    let number = u32::try_from(earlier).unwrap_or(u32::MAX).saturating_add(1);
    let task =
        CaptureTask::new(context.state.session.clone(), number, request, made(context.state, context.call));
    task.map(ReplayedCapture::new).map_err(|error| malformed(error.to_string()))
}

/// Makes a capture again from all that was recorded before this call.
pub(super) fn rebuilt(
    id: &str,
    context: &CallContext<'_>,
    site: &Site,
) -> Result<ReplayedCapture, Box<ToolAction>> {
    let calls: Vec<&CallState> = before(context).collect();
    let mut captures = calls.iter().filter(|call| is_capture(call));
    let number = id.strip_prefix(context.state.session.as_str()).and_then(|rest| rest.strip_prefix('-'));
    let number = number.and_then(|number| number.parse::<usize>().ok()).filter(|number| *number > 0);
    let own = number.and_then(|number| captures.nth(number - 1));
    let Some((own, arguments)) = own.and_then(|own| Some((*own, own.call.arguments.as_object()?))) else {
        let count = calls.iter().filter(|call| is_capture(call)).count();
        let known: Vec<String> =
            (1..=count).map(|number| format!("{}-{number}", context.state.session)).collect();
        let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
        let asked: String = id.chars().take(80).collect();
        return Err(malformed(format!("this session has no capture {asked:?}; its captures: {known}")));
    };
    let past = |call| CallContext { call, ..*context };
    let mut capture = fresh(arguments, &past(own), site)?;
    // Where its record ends, it stays as it is.
    let _ = capture.replay(&mut CallReplay::new(&past(own), None));
    let later = calls.iter().skip_while(|call| call.call.id != own.call.id).skip(1);
    for call in later.filter(|call| is_about(call, id)) {
        capture.call(made(context.state, call));
        if apply(&call.call.tool, &mut capture) {
            let _ = capture.replay(&mut CallReplay::new(&past(call), None));
        }
    }
    capture.call(made(context.state, context.call));
    Ok(capture)
}

/// Applies a tool to its capture; returns `false` where there is nothing to do.
pub(super) fn apply(tool: &str, capture: &mut ReplayedCapture) -> bool {
    let over = capture.task.state().is_over();
    match tool {
        CANCEL if !over && !capture.waits_for_removal() => capture.task.cancel(),
        CLEANUP if over && capture.remains() => capture.task.clean_up(),
        _ => return false,
    }
    true
}

/// Returns what a call still has to remove behind the report; nothing where another call saw to that, or where more is open.
pub(super) fn removal(
    arguments: &Map<String, Value>,
    context: &CallContext<'_>,
    site: &Site,
) -> Option<ToolAction> {
    let mut capture = fresh(arguments, context, site).ok()?;
    let id = capture.task.id();
    let is_other = |call: &&CallState| {
        matches!(call.call.tool.as_str(), CANCEL | CLEANUP) && is_about(call, &id) && !call.steps.is_empty()
    };
    if context.state.calls().any(|call| is_other(&call)) {
        return None;
    }
    let action = capture.replay(&mut CallReplay::new(context, None)).err()?;
    let is_open = capture.waits_for_removal() && !matches!(*action, ToolAction::Return(_));
    is_open.then_some(*action)
}

/// Returns the captures of the session that may still run in the cloud, by their names: an investigation does not end
/// before they do.
#[must_use]
pub fn running_tasks(context: &CallContext<'_>) -> Vec<String> {
    let calls: Vec<&CallState> = before(context).collect();
    let mut running = Vec::new();
    for (at, capture) in calls.iter().filter(|call| is_capture(call)).enumerate() {
        let id = format!("{}-{}", context.state.session, at + 1);
        let begun = capture.steps.iter().filter_map(|step| context.state.step(*step)).any(|step| {
            let ran =
                step.outcome_unknown || step.done.as_ref().is_none_or(|done| done.duration_ms.is_some());
            ran && step.current().contains(BEGINS)
        });
        // The last call that states its progress counts.
        let about = calls.iter().rev().filter(|call| call.call.id == capture.call.id || is_about(call, &id));
        if begun && !about.filter_map(|call| over(call)).next().unwrap_or(false) {
            running.push(id);
        }
    }
    running
}

/// Returns whether a capture was over when a call returned; `None` where the call does not say.
fn over(call: &CallState) -> Option<bool> {
    let content: Value = serde_json::from_str(&call.returned.as_ref()?.content).ok()?;
    State::deserialize(content.get("state")?).ok().map(State::is_over)
}
