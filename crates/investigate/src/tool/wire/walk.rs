//! A capture along the record of the calls that belong to it.

use serde::Deserialize;
use serde_json::Value;

use super::purpose::fail;
use crate::event::ObservationId;
use crate::tool::errand::Trail;
use crate::tool::{Chore, Move};
use ghost_base::Timestamp;
use ghost_cloud::capture::{
    Analysis, AnalysisJob, CaptureTask, CommandOutcome, NextStep, Phase, Role, StepKind,
};
use ghost_cloud::operation::Issue;

/// No capture takes more steps; it is a guard against going round and round.
const MOST: usize = 2_000;

/// A capture as far as the record goes.
#[derive(Debug, Clone)]
pub(super) struct Walked {
    /// The capture.
    pub(super) task: CaptureTask,
    /// What a human said who would not have it begun.
    pub(super) denied: Option<String>,
    /// What the analysis tells of each file, the source's first, as JSON.
    pub(super) semantics: Vec<Option<String>>,
    /// What was observed.
    pub(super) seen: Vec<ObservationId>,
    /// When the last thing came in.
    clock: Timestamp,
}

/// What reading a file comes to.
#[derive(Deserialize)]
struct Verified {
    packets: u64,
    #[serde(default)]
    cut_off: bool,
}

impl Walked {
    /// Takes a capture at its beginning.
    pub(super) fn new(task: CaptureTask) -> Self {
        let clock = task.opened;
        Self { task, denied: None, semantics: Vec::new(), seen: Vec::new(), clock }
    }

    /// Begins another call, not before it was made.
    pub(super) fn call(&mut self, at: Timestamp) {
        self.clock = self.clock.max(at);
        self.seen.clear();
    }

    /// Takes the capture along a call, until nothing more happens by itself.
    ///
    /// A wait moves the clock exactly to its end, and an answer to its time in the record: whoever walks later sees the same.
    pub(super) fn along(&mut self, trail: &mut Trail<'_, '_>) -> Result<(), Box<Move>> {
        let result = self.go(trail);
        self.seen = trail.seen();
        result
    }

    fn go(&mut self, trail: &mut Trail<'_, '_>) -> Result<(), Box<Move>> {
        let mut clock = self.clock;
        for _ in 0..MOST {
            match self.task.next(clock) {
                NextStep::Run(step) => {
                    let plan = self.task.plan(&step);
                    let (answer, at) = trail.command(&step.command(), &step.why, &plan)?;
                    if !self.task.begin(&step) {
                        return Err(fail("the capture is in a state that cannot be", "start another one"));
                    }
                    clock = clock.max(at);
                    self.hear(&step.what, &answer);
                    self.task.on_result(&step.what, step.end, &answer, clock);
                    self.clock = clock;
                }
                NextStep::Verify { end, file, bytes } => {
                    let text = trail.chore(Chore::Verify { file, bytes })?;
                    clock = clock.max(trail.now());
                    self.task.verified(end, verified(&text), clock);
                    self.clock = clock;
                }
                NextStep::Analyze(work) => {
                    let work: Vec<_> = work.iter().map(named).collect();
                    let text = trail.chore(Chore::Analyze { work: work.clone() })?;
                    clock = clock.max(trail.now());
                    let (analysis, semantics) = analyzed(&text, &work);
                    self.semantics = semantics;
                    self.task.analyzed(analysis);
                    self.clock = clock;
                }
                NextStep::Wait { until, why: _ } => {
                    trail.wait(until)?;
                    clock = clock.max(until);
                }
                NextStep::Over => return Ok(()),
            }
        }
        Err(fail("the capture does not come to an end", "cancel_task ends it"))
    }

    fn hear(&mut self, what: &StepKind, answer: &CommandOutcome) {
        if let (StepKind::Create, CommandOutcome::Denied { reason, .. }) = (what, answer) {
            self.denied.get_or_insert_with(|| reason.clone());
        }
    }

    /// Says whether any packet is here.
    pub(super) fn is_kept(&self) -> bool {
        self.task.ends.iter().any(|end| matches!(end.phase, Phase::Kept { .. }))
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

fn verified(text: &str) -> Result<(u64, bool), String> {
    match serde_json::from_str::<Verified>(text) {
        Ok(read) => Ok((read.packets, read.cut_off)),
        Err(_) => {
            let told: Option<Value> = serde_json::from_str(text).ok();
            let why = told.as_ref().and_then(|told| told.get("error")?.as_str());
            Err(why.unwrap_or(text).chars().take(300).collect())
        }
    }
}

/// Reads what an analysis came to: `{"analysis": …, "documents": {"NAME": …}}`, a document for each file, or `null` where none can be
/// read. The documents come in the order of the work.
fn analyzed(text: &str, work: &[(String, String, String)]) -> (Analysis, Vec<Option<String>>) {
    let whole: Value = serde_json::from_str(text).unwrap_or_default();
    let analysis = whole.get("analysis").and_then(|analysis| Analysis::deserialize(analysis).ok());
    let told = || whole.get("error").and_then(Value::as_str).unwrap_or("the analysis failed");
    let analysis = analysis.unwrap_or_else(|| Analysis {
        files: Vec::new(),
        findings: Vec::new(),
        critical: 0,
        trouble: Some(Issue::new(told())),
    });
    let documents = whole.get("documents");
    let document = |name: &str| documents?.get(name).filter(|found| !found.is_null()).map(Value::to_string);
    (analysis, work.iter().map(|(_, name, _)| document(name)).collect())
}
