//! The loop: ask the task what is next, do it, tell the task what came of it, keep the task before and after.

use async_trait::async_trait;

use super::step::{Next, Step, Work};
use super::task::{Analysis, Task};
use crate::errand::Answer;
use ghost_base::{Clock, Timestamp};

/// What somebody says while a task is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
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
pub trait Hands: Send + Sync {
    /// Runs a command through the shell. `plan` is all that one consent covers; it is empty where none is needed.
    async fn run(&self, step: &Step, plan: &[String]) -> Answer;

    /// Reads a fetched file of the captures folder, as [`super::verify()`] does.
    async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), String>;

    /// Analyzes files of the captures folder, as [`super::analyze()`] does.
    async fn analyze(&self, work: &[Work]) -> Analysis;

    /// Waits until that moment, or until somebody says a word.
    async fn wait(&self, until: Timestamp) -> Word;

    /// Keeps the task. Nothing is done that was not kept before.
    fn save(&self, task: &Task) -> Result<(), String>;

    /// Shows how far it is and what comes next.
    fn tell(&self, task: &Task, next: &Next);
}

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
    Keep(String),
    /// The task took back what it wanted.
    #[error("the capture is in a state that cannot be")]
    Torn,
}

/// Drives a task until nothing more happens by itself, or somebody says to leave it.
///
/// # Errors
/// Fails where the task cannot be kept.
pub async fn drive(task: &mut Task, hands: &dyn Hands, clock: &dyn Clock) -> Result<Ended, DriveError> {
    loop {
        hands.save(task).map_err(DriveError::Keep)?;
        match hands.wait(clock.now()).await {
            Word::GoOn => {}
            Word::Stop => task.stop(),
            Word::Cancel => task.cancel(),
            Word::Leave => return Ok(Ended::Left),
        }
        let next = task.next(clock.now());
        hands.tell(task, &next);
        match next {
            Next::Run(step) => {
                let plan = task.plan(&step);
                if !task.begin(&step) {
                    return Err(DriveError::Torn);
                }
                hands.save(task).map_err(DriveError::Keep)?;
                let answer = hands.run(&step, &plan).await;
                task.heard(&step.what, step.end, &answer, clock.now());
            }
            Next::Verify { end, file, bytes } => {
                let read = hands.verify(&file, bytes).await;
                task.verified(end, read, clock.now());
            }
            Next::Analyze(work) => task.analyzed(hands.analyze(&work).await),
            Next::Wait { until, why: _ } => match hands.wait(until).await {
                Word::GoOn => {}
                Word::Stop => task.stop(),
                Word::Cancel => task.cancel(),
                Word::Leave => {
                    hands.save(task).map_err(DriveError::Keep)?;
                    return Ok(Ended::Left);
                }
            },
            Next::Over => {
                hands.save(task).map_err(DriveError::Keep)?;
                return Ok(Ended::Over);
            }
        }
    }
}
