//! The loop: ask the task what is next, do it, tell the task its result, keep the task before and after.
//!
//! Executes a task: commands through the safety shell, files of the captures folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use ghost_base::{Clock, Timestamp};
use ghost_shell::{CancelSignal, Shell};

use super::step::{AnalysisJob, CaptureStep, NextStep};
use super::task::{Analysis, CaptureTask};
use crate::operation::{self, CommandOutcome};

/// An instruction for a task in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// Nothing.
    GoOn,
    /// End it early, and keep what was recorded.
    Stop,
    /// End it, and keep nothing.
    Cancel,
    /// Leave it to itself: the platform goes on, and so can anybody later.
    Leave,
}

/// What a task needs of the world.
#[async_trait]
pub trait CaptureExecutor: Send + Sync {
    /// Runs a command through the shell. `plan` is all that one consent covers; it is empty where none is needed.
    async fn run(&self, step: &CaptureStep, plan: &[String]) -> CommandOutcome;

    /// Reads a fetched file of the captures folder: is it whole, is it a capture? Returns its packets, and whether it ends within one.
    async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), FileProblem>;

    /// Analyzes files of the captures folder, and compares two.
    async fn analyze(&self, work: &[AnalysisJob]) -> Analysis;

    /// Waits until that moment, or until somebody says a word.
    async fn wait(&self, until: Timestamp) -> Instruction;

    /// Keeps the task. Nothing is done that was not kept before.
    fn save(&self, task: &CaptureTask) -> Result<(), SaveError>;

    /// Shows how far it is and what comes next.
    fn tell(&self, task: &CaptureTask, next: &NextStep);
}

/// Why a fetched file is no whole capture, in the words that are recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FileProblem(pub String);

/// Why a task could not be kept, as its executor says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SaveError(pub String);

/// How driving a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing more happens by itself.
    Over,
    /// Somebody said to leave it.
    Left,
}

/// Why a task could not be driven on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// It could not be kept, so that nothing was done.
    #[error("the capture could not be kept, so that nothing more was done: {0}")]
    Keep(SaveError),
    /// The task took back what it wanted.
    #[error("the capture is in a state that cannot be")]
    Torn,
}

/// Drives a task until nothing more happens by itself, or somebody says to leave it.
///
/// # Errors
/// Fails where the task cannot be kept.
pub async fn drive(
    task: &mut CaptureTask,
    executor: &dyn CaptureExecutor,
    clock: &dyn Clock,
) -> Result<Ended, DriveError> {
    loop {
        executor.save(task).map_err(DriveError::Keep)?;
        match executor.wait(clock.now()).await {
            Instruction::GoOn => {}
            Instruction::Stop => task.stop(),
            Instruction::Cancel => task.cancel(),
            Instruction::Leave => return Ok(Ended::Left),
        }
        let next = task.next(clock.now());
        executor.tell(task, &next);
        match next {
            NextStep::Run(step) => {
                let plan = task.plan(&step);
                if !task.begin(&step) {
                    return Err(DriveError::Torn);
                }
                executor.save(task).map_err(DriveError::Keep)?;
                let answer = executor.run(&step, &plan).await;
                task.on_result(&step.what, step.end, &answer, clock.now());
            }
            NextStep::Verify { end, file, bytes } => {
                let read = executor.verify(&file, bytes).await;
                task.verified(end, read, clock.now());
            }
            NextStep::Analyze(work) => task.analyzed(executor.analyze(&work).await),
            NextStep::Wait { until, why: _ } => match executor.wait(until).await {
                Instruction::GoOn => {}
                Instruction::Stop => task.stop(),
                Instruction::Cancel => task.cancel(),
                Instruction::Leave => {
                    executor.save(task).map_err(DriveError::Keep)?;
                    return Ok(Ended::Left);
                }
            },
            NextStep::Over => {
                executor.save(task).map_err(DriveError::Keep)?;
                return Ok(Ended::Over);
            }
        }
    }
}

/// How much stays free in the captures folder.
const MIN_FREE_BYTES: u64 = 100_000_000;

/// A shell as captures use it.
pub struct CaptureShell {
    gate: operation::ShellExecutor,
    captures: PathBuf,
}

impl CaptureShell {
    /// Takes a shell, the folder where it keeps whole outputs, and the captures folder.
    #[must_use]
    pub fn new(shell: Arc<Shell>, evidence: PathBuf, captures: PathBuf) -> Self {
        Self { gate: operation::ShellExecutor::new(shell, evidence), captures }
    }

    /// Runs a command. One consent covers its plan.
    pub async fn run(&self, step: &CaptureStep, plan: &[String], cancel: CancelSignal) -> CommandOutcome {
        if let Some(answer) = step.room.and_then(|bytes| self.full(bytes)) {
            return answer;
        }
        self.gate.line(&step.command(), &step.why, plan, cancel).await
    }

    /// Runs a command that belongs to no task.
    pub(super) async fn order(&self, order: &operation::CommandRequest) -> CommandOutcome {
        self.gate.run(order, CancelSignal::never()).await
    }

    /// Returns the captures folder.
    #[must_use]
    pub fn captures(&self) -> &Path {
        &self.captures
    }

    /// Says no where a file would not fit.
    fn full(&self, bytes: u64) -> Option<CommandOutcome> {
        let free = rustix::fs::statvfs(&self.captures).ok()?;
        let free = free.f_bavail.saturating_mul(free.f_frsize);
        let reason = format!(
            "{} has {} MB free, and the file has {} MB",
            self.captures.display(),
            free / 1_000_000,
            bytes.div_ceil(1_000_000)
        );
        (free < bytes.saturating_add(MIN_FREE_BYTES)).then_some(CommandOutcome::NotRun { reason })
    }
}
