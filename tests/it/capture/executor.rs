//! Somebody who drives captures through the whole shell, and the human who is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock as _, Timestamp};
use ghost_capture_files::CaptureFolder;
use ghost_cloud::capture::{
    Analysis, AnalysisJob, CaptureExecutor, CaptureShell, CaptureStep, CaptureTask, CommandOutcome,
    DriveError, Ended, FileProblem, Instruction, NextStep, SaveError, State, TaskStore, drive,
};
use ghost_lab::LabClock;
use ghost_lab::control::Remote;
use ghost_shell::{Approver, CancelSignal, Choice, Decision, Request, Reviewer};
use serde_json::json;

/// Agrees to what contains none of some words, and notes what it was asked.
pub(super) struct Human {
    pub(super) never: &'static str,
    pub(super) asked: Arc<Mutex<Vec<Vec<String>>>>,
}

#[async_trait]
impl Approver for Human {
    async fn decide(&self, request: &Request) -> Decision {
        let mut commands: Vec<String> = request.plan.iter().map(|step| step.command.clone()).collect();
        if commands.is_empty() {
            commands.push(request.command.clone());
        }
        let denied = !self.never.is_empty() && commands.iter().any(|command| command.contains(self.never));
        // The policy lets files be fetched into one folder, which tests do not share.
        if !commands.iter().any(|command| command.contains("blob download")) {
            self.asked.lock().unwrap().push(commands);
        }
        let choice = if denied { Choice::Deny { reason: "keep it".to_owned() } } else { Choice::Approve };
        Decision { choice, who: Reviewer::new("ana") }
    }
}

/// When an executor dies: at which of its saves, and whether that one is still written.
pub(super) type Death = Option<(usize, bool)>;

/// Somebody who drives captures, for whom the lab's clock passes instead of waiting.
pub(super) struct FakeExecutor {
    gate: CaptureShell,
    store: TaskStore,
    clock: LabClock,
    remote: Remote,
    pub(super) asked: Arc<Mutex<Vec<Vec<String>>>>,
    pub(super) ran: Mutex<Vec<String>>,
    state: Mutex<State>,
    pub(super) says: Mutex<VecDeque<(State, Instruction)>>,
    pub(super) saves: Mutex<(usize, Death)>,
}

impl FakeExecutor {
    pub(super) fn new(
        gate: CaptureShell,
        store: TaskStore,
        clock: LabClock,
        remote: Remote,
        asked: Arc<Mutex<Vec<Vec<String>>>>,
    ) -> Self {
        Self {
            gate,
            store,
            clock,
            remote,
            asked,
            ran: Mutex::default(),
            state: Mutex::new(State::Checking),
            says: Mutex::default(),
            saves: Mutex::new((0, None)),
        }
    }

    pub(super) async fn drive(&self, task: &mut CaptureTask) -> Result<Ended, DriveError> {
        drive(task, self, &self.clock).await
    }

    pub(super) fn gate(&self) -> &CaptureShell {
        &self.gate
    }

    /// Drives a task to where nothing more happens by itself.
    pub(super) async fn end(&self, mut task: CaptureTask) -> CaptureTask {
        let ended = self.drive(&mut task).await;
        assert_eq!(ended, Ok(Ended::Over), "{task:#?}");
        task
    }

    /// Counts commands that contain a text.
    pub(super) fn count(&self, text: &str) -> usize {
        self.ran.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }
}

#[async_trait]
impl CaptureExecutor for FakeExecutor {
    async fn run(&self, step: &CaptureStep, plan: &[String]) -> CommandOutcome {
        self.ran.lock().unwrap().push(step.command());
        self.gate.run(step, plan, CancelSignal::never()).await
    }

    async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), FileProblem> {
        CaptureFolder::new(self.gate.captures()).verify(file, bytes).await
    }

    async fn analyze(&self, work: &[AnalysisJob]) -> Analysis {
        CaptureFolder::new(self.gate.captures()).analyze(work).await
    }

    async fn wait(&self, until: Timestamp) -> Instruction {
        let state = *self.state.lock().unwrap();
        let said = {
            let mut says = self.says.lock().unwrap();
            let due = says.front().is_some_and(|(when, _)| *when == state);
            due.then(|| says.pop_front()).flatten()
        };
        if let Some((_, word)) = said {
            return word;
        }
        let left = until.since(self.clock.now());
        if !left.is_zero() {
            let seconds = (left + Duration::from_millis(999)).as_secs();
            self.remote.order("pass", &json!({"seconds": seconds})).await.unwrap();
        }
        Instruction::GoOn
    }

    fn save(&self, task: &CaptureTask) -> Result<(), SaveError> {
        let mut saves = self.saves.lock().unwrap();
        saves.0 += 1;
        match saves.1.filter(|(at, _)| *at == saves.0) {
            None => self.store.save(task).map_err(|error| SaveError(error.to_string())),
            Some((_, written)) => {
                if written {
                    self.store.save(task).unwrap();
                }
                Err(SaveError("dead".to_owned()))
            }
        }
    }

    fn tell(&self, task: &CaptureTask, _next: &NextStep) {
        *self.state.lock().unwrap() = task.state();
    }
}
