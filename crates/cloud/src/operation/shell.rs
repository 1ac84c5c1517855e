//! Runs the commands of operations through the safety shell: one approval for a whole plan, complete output from the evidence folder.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use ghost_base::Digest;
use ghost_shell::{CancelSignal, Grant, Problem, Response, Shell, Status};
use tokio::sync::Mutex;

use super::port::{CommandKind, CommandOutcome, CommandRequest};
use crate::line::Line;

/// The shell as operations use it.
pub struct ShellExecutor {
    shell: Arc<Shell>,
    evidence: PathBuf,
    consent: Mutex<Option<(Grant, VecDeque<String>)>>,
}

impl ShellExecutor {
    /// Creates an executor; `evidence` is the folder with complete outputs.
    #[must_use]
    pub fn new(shell: Arc<Shell>, evidence: PathBuf) -> Self {
        Self { shell, evidence, consent: Mutex::new(None) }
    }

    /// Runs a command. One approval covers its plan; a command outside of the plan is approved on its own.
    pub async fn run(&self, order: &CommandRequest, cancel: CancelSignal) -> CommandOutcome {
        match &order.what {
            CommandKind::Line(line) => self.line(&line.text(), &order.why, &order.plan, cancel).await,
            CommandKind::Script { carrier, script, variables } => {
                self.script(carrier, script, variables, &order.why, cancel).await
            }
        }
    }

    async fn script(
        &self,
        carrier: &Line,
        script: &str,
        variables: &[(&str, String)],
        why: &str,
        cancel: CancelSignal,
    ) -> CommandOutcome {
        let values: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let Some(script) = self.shell.policy().script(script) else {
            return CommandOutcome::NotRun { reason: format!("the policy declares no script `{script}`") };
        };
        match script.fill(&values) {
            Ok(filled) => {
                self.answer(self.shell.run_script(carrier.words(), &filled, why, cancel).await, false)
            }
            Err(error) => CommandOutcome::NotRun { reason: error.to_string() },
        }
    }

    /// Runs a command as [`ShellExecutor::run`] does.
    pub async fn line(
        &self,
        command: &str,
        why: &str,
        plan: &[String],
        cancel: CancelSignal,
    ) -> CommandOutcome {
        // What reads needs no consent, and leaves one that is there as it is.
        if plan.is_empty() {
            return self.answer(self.shell.run_until(command, why, cancel).await, false);
        }
        let mut consent = self.consent.lock().await;
        // What is left of a consent to something else is worth nothing.
        let covered = consent.as_ref().is_some_and(|(_, left)| left.iter().any(|next| next == command));
        if !covered {
            *consent = None;
        }
        // One command is asked for as one: a human can change it there.
        if plan.len() < 2 && !covered {
            return self.answer(self.shell.run_until(command, why, cancel).await, false);
        }
        if !covered {
            let (purpose, mut stopped) = (format!("{why}, and what belongs to it"), cancel.clone());
            let asked = tokio::select! {
                asked = self.shell.ask_plan(&purpose, plan, why) => asked,
                () = stopped.canceled() => {
                    return CommandOutcome::Denied { reason: "it was interrupted".to_owned(), all: true };
                }
            };
            match asked {
                Ok(grant) => *consent = Some((grant, plan.iter().cloned().collect())),
                Err(response) => return self.answer(*response, true),
            }
        }
        let Some((grant, left)) = consent.as_mut() else {
            return CommandOutcome::NotRun { reason: "the consent was lost".to_owned() };
        };
        // What was passed over is given up.
        while left.pop_front().is_some_and(|next| next != command) {}
        let response = self.shell.run_planned(grant, command, why, cancel).await;
        if left.is_empty() {
            *consent = None;
        }
        self.answer(response, false)
    }

    fn answer(&self, response: Response, all: bool) -> CommandOutcome {
        let reason = response.reason.clone();
        if response.modified_command.is_some() {
            return CommandOutcome::Unknown { reason: "another command was run in its place".to_owned() };
        }
        match (response.status, response.error) {
            (Status::Denied, _) => CommandOutcome::Denied { reason, all },
            (Status::Completed, _) => self.ran(response),
            (Status::Error, Some(Problem::Blocked | Problem::EmptyCommand)) => {
                CommandOutcome::Refused { reason }
            }
            (Status::Error, Some(Problem::SpawnFailed)) => {
                CommandOutcome::NotRun { reason: response.stderr.trim().to_owned() }
            }
            (Status::Error, Some(Problem::AuditFailed)) if response.duration_seconds.is_none() => {
                CommandOutcome::NotRun { reason }
            }
            (Status::Error, Some(Problem::Timeout)) => {
                CommandOutcome::Unknown { reason: "it took too long".to_owned() }
            }
            (Status::Error, Some(Problem::Canceled)) => {
                CommandOutcome::Unknown { reason: "it was interrupted".to_owned() }
            }
            (Status::Error, Some(Problem::RedactionFailure | Problem::AuditFailed) | None) => {
                CommandOutcome::Unknown { reason }
            }
        }
    }

    fn ran(&self, response: Response) -> CommandOutcome {
        if response.exit_code.is_none() {
            return CommandOutcome::Unknown { reason: "a signal ended it".to_owned() };
        }
        let metadata = response.output_metadata.as_ref();
        let whole = metadata.and_then(|metadata| self.whole(metadata.evidence.as_deref()?));
        let clipped = metadata.is_some_and(|metadata| metadata.stdout.applied);
        let stdout = match whole {
            Some(text) => text,
            None if clipped => {
                return CommandOutcome::Unknown { reason: "its whole output could not be kept".to_owned() };
            }
            None => response.output,
        };
        CommandOutcome::Ran { exit: response.exit_code, stdout, stderr: response.stderr }
    }

    /// Returns the whole redacted output; one that does not have its digest is none.
    fn whole(&self, digest: &str) -> Option<String> {
        let digest: Digest = digest.parse().ok()?;
        let text = std::fs::read_to_string(self.evidence.join(format!("{digest}.txt"))).ok()?;
        (Digest::of(&text) == digest).then_some(text)
    }
}
