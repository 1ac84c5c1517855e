//! A task at a terminal: commands go through the shell, progress goes to standard error, Ctrl-C leaves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;

use super::command::Common;
use ghost_base::{Clock as _, SessionId, SystemClock, Timestamp};
use ghost_capture_files::CaptureFolder;
use ghost_cloud::capture::{
    Analysis, AnalysisJob, CaptureExecutor, CaptureShell, CaptureStep, CaptureTask, CommandOutcome, Ended,
    FileProblem, Instruction, NextStep, SaveError, State, TaskStore, drive,
};
use ghost_shell::{Approver, Cancel, Known};
use ghost_tools::print::harmless;
use ghost_tools::print::note;
use ghost_tools::setup::Setup;

/// How often it is looked for a word that somebody left.
const INSTRUCTION_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// A file of a gigabyte takes its time.
const MAX_COMMAND_SECONDS: u64 = 900;

/// A task at a terminal.
pub(super) struct Terminal {
    gate: CaptureShell,
    store: TaskStore,
    id: String,
    detach: bool,
    leaving: AtomicBool,
    interrupts: Mutex<Signal>,
    last_line: std::sync::Mutex<String>,
}

impl Terminal {
    pub(super) fn new(
        setup: &Setup,
        store: &TaskStore,
        task: &CaptureTask,
        common: &Common,
        detach: bool,
    ) -> anyhow::Result<Self> {
        note(&common.approve.describe(setup));
        Ok(Self {
            gate: gate(setup, &task.session, common.approve.approver(setup), std::slice::from_ref(task))?,
            store: store.clone(),
            id: task.id(),
            detach,
            leaving: AtomicBool::new(false),
            interrupts: Mutex::new(signal(SignalKind::interrupt()).context("listening for Ctrl-C")?),
            last_line: std::sync::Mutex::new(String::new()),
        })
    }

    /// Drives a task as far as it goes.
    pub(super) async fn drive(&self, task: &mut CaptureTask) -> anyhow::Result<Ended> {
        Ok(drive(task, self, &SystemClock).await?)
    }

    /// Waits for Ctrl-C.
    async fn interrupted(&self) {
        if self.interrupts.lock().await.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Prints a line unless it is the one that stands there.
    fn say(&self, line: String) {
        let Ok(mut last_line) = self.last_line.lock() else { return };
        if *last_line != line {
            note(&harmless(&line));
            *last_line = line;
        }
    }
}

/// Returns the places to which the commands of tasks may send something unasked.
pub(super) fn known(setup: &Setup, tasks: &[CaptureTask]) -> anyhow::Result<Known> {
    let mut known = Known::of(&setup.surroundings()?);
    // The accounts that people at this terminal named.
    tasks.iter().for_each(|task| known.add_words(task.order.storage.account.as_ref()));
    Ok(known)
}

/// Makes the gate through which all goes.
pub(in crate::cli) fn gate(
    setup: &Setup,
    session: &SessionId,
    approver: Arc<dyn Approver>,
    tasks: &[CaptureTask],
) -> anyhow::Result<CaptureShell> {
    let timeout = setup.config.shell.timeout_seconds.max(MAX_COMMAND_SECONDS);
    let shell = setup.shell(session.clone(), Some(timeout))?.known(known(setup, tasks)?);
    let shell = shell.approver(approver).build()?;
    let evidence = setup.data()?.join("evidence");
    Ok(CaptureShell::new(Arc::new(shell), evidence, setup.config.capture.folder.clone()))
}

#[async_trait]
impl CaptureExecutor for Terminal {
    async fn run(&self, step: &CaptureStep, plan: &[String]) -> CommandOutcome {
        let (cancel, stop) = Cancel::new();
        let running = self.gate.run(step, plan, stop);
        tokio::pin!(running);
        loop {
            tokio::select! {
                answer = &mut running => return answer,
                () = self.interrupted() => {
                    if self.leaving.swap(true, Ordering::SeqCst) {
                        cancel.cancel();
                    } else {
                        note("The capture is left to itself as soon as this command is over; Ctrl-C once more cuts the command off.");
                    }
                }
            }
        }
    }

    async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), FileProblem> {
        CaptureFolder::new(self.gate.captures()).verify(file, bytes).await
    }

    async fn analyze(&self, work: &[AnalysisJob]) -> Analysis {
        CaptureFolder::new(self.gate.captures()).analyze(work).await
    }

    async fn wait(&self, until: Timestamp) -> Instruction {
        loop {
            if self.leaving.load(Ordering::SeqCst) {
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
                () = self.interrupted() => self.leaving.store(true, Ordering::SeqCst),
            }
        }
    }

    fn save(&self, task: &CaptureTask) -> Result<(), SaveError> {
        self.store.save(task).map_err(|error| {
            let cause =
                std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            SaveError(format!("{error}{cause}"))
        })
    }

    fn tell(&self, task: &CaptureTask, next: &NextStep) {
        let elapsed = SystemClock.now().since(task.opened).as_secs();
        let state = task.state();
        let (what, how) = match next {
            NextStep::Run(step) => (step.why.clone(), ""),
            NextStep::Verify { file, .. } => (format!("reading {file}"), ""),
            NextStep::Analyze(_) => ("analyzing what was captured".to_owned(), ""),
            NextStep::Wait { why, .. } => (why.clone(), "; Ctrl-C leaves it to itself"),
            NextStep::Over => return,
        };
        if self.detach && state == State::Recording && matches!(next, NextStep::Wait { .. }) {
            self.leaving.store(true, Ordering::SeqCst);
        }
        self.say(format!("{:02}:{:02} {} · {what}{how}", elapsed / 60, elapsed % 60, state.word()));
    }
}
