//! The hands of a task: commands through the safety shell, files of the captures folder.

use std::path::PathBuf;
use std::sync::Arc;

use super::analyze::{analyze, verify};
use super::step::{Step, Work};
use super::task::Analysis;
use crate::errand::Trouble;
use crate::errand::{self, Answer};
use ghost_shell::{CancelSignal, Shell};

/// So much stays free in the captures folder.
const SPARE: u64 = 100_000_000;

/// A shell as captures use it.
pub struct Gate {
    gate: errand::Gate,
    captures: PathBuf,
}

impl Gate {
    /// Takes a shell, the folder where it keeps whole outputs, and the captures folder.
    #[must_use]
    pub fn new(shell: Arc<Shell>, evidence: PathBuf, captures: PathBuf) -> Self {
        Self { gate: errand::Gate::new(shell, evidence), captures }
    }

    /// Runs a command. One consent covers its plan.
    pub async fn run(&self, step: &Step, plan: &[String], cancel: CancelSignal) -> Answer {
        if let Some(answer) = step.room.and_then(|bytes| self.full(bytes)) {
            return answer;
        }
        self.gate.line(&step.command(), &step.why, plan, cancel).await
    }

    /// Runs a command that belongs to no task.
    pub(super) async fn order(&self, order: &errand::Order) -> Answer {
        self.gate.run(order, CancelSignal::never()).await
    }

    /// Reads a fetched file.
    ///
    /// # Errors
    /// Says why it is no capture.
    pub async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), String> {
        let path = self.captures.join(file);
        let read = tokio::task::spawn_blocking(move || verify(&path, bytes)).await;
        read.unwrap_or_else(|_| Err("reading it failed".to_owned()))
    }

    /// Analyzes fetched files.
    pub async fn analyze(&self, work: &[Work]) -> Analysis {
        let (folder, work) = (self.captures.clone(), work.to_vec());
        tokio::task::spawn_blocking(move || analyze(&folder, &work)).await.unwrap_or_else(|_| Analysis {
            files: Vec::new(),
            findings: Vec::new(),
            critical: 0,
            trouble: Some(Trouble::new("the analysis failed")),
        })
    }

    /// Says no where a file would not fit.
    fn full(&self, bytes: u64) -> Option<Answer> {
        let free = rustix::fs::statvfs(&self.captures).ok()?;
        let free = free.f_bavail.saturating_mul(free.f_frsize);
        let reason = format!(
            "{} has {} MB free, and the file has {} MB",
            self.captures.display(),
            free / 1_000_000,
            bytes.div_ceil(1_000_000)
        );
        (free < bytes.saturating_add(SPARE)).then_some(Answer::NotRun { reason })
    }
}
