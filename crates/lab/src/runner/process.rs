//! The runner.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::Handle;

use super::line::Line;
use super::local::{self, ProgramOutput};
use super::{cloud, guest};
use crate::control::Lab;
use crate::kubernetes::{Answered, kubectl};
use ghost_base::Clock as _;
use ghost_shell::{CancelSignal, ExecError, Output, Permit, Runner, Setting};

/// What stands in the place of a program's file.
const BY: &str = "(a lab in this process)";

/// Answers what the shell permits from a lab in this process.
#[derive(Clone)]
pub struct InProcess {
    lab: Arc<Lab>,
    /// Who runs what asks the cloud, where it is somebody else.
    cloud: Option<Arc<dyn Runner>>,
}

impl InProcess {
    /// Answers from this lab.
    #[must_use]
    pub fn new(lab: Arc<Lab>) -> Self {
        Self { lab, cloud: None }
    }

    /// Leaves what asks the cloud to somebody else: an unmodified `az`, to which the same lab answers on a port. All the rest is
    /// answered here as ever.
    #[must_use]
    pub fn with_cloud(self, cloud: Arc<dyn Runner>) -> Self {
        Self { cloud: Some(cloud), ..self }
    }

    /// Answers a command.
    async fn reply(&self, words: &[String], setting: &Setting) -> ProgramOutput {
        match Line::of(words) {
            None => ProgramOutput::failed(127, "there is no command"),
            Some(Line::Guest(host, text)) => guest::reply(&self.lab, host, &text).await,
            Some(Line::Cluster(rest)) => {
                let Answered { out, err, exit } = kubectl(&self.lab.clusters(), rest, self.lab.clock().now());
                ProgramOutput { out: out.into_bytes(), err, exit }
            }
            Some(Line::Local(program, rest)) => local::answer(program, rest, self.lab.clock().now()),
            Some(Line::Cloud(rest)) => {
                let (lab, runtime) = (Arc::clone(&self.lab), Handle::current());
                let (captures, rest) = (setting.captures.clone(), rest.to_vec());
                // The built-in `az` waits for answers, which the runtime's own thread gives.
                let work = move || cloud::reply(&lab, runtime, &captures, &rest);
                let done = tokio::task::spawn_blocking(work).await;
                done.unwrap_or_else(|error| ProgramOutput::failed(1, format!("the lab broke off: {error}")))
            }
        }
    }
}

#[async_trait]
impl Runner for InProcess {
    fn starts_processes(&self) -> bool {
        self.cloud.is_some()
    }

    fn brings_identity(&self, permit: &Permit, setting: &Setting) -> bool {
        self.cloud.as_ref().is_some_and(|cloud| cloud.brings_identity(permit, setting))
    }

    async fn run(
        &self,
        permit: Permit,
        setting: &Setting,
        mut cancel: CancelSignal,
    ) -> Result<Output, ExecError> {
        let asks_cloud = matches!(permit.words().and_then(Line::of), Some(Line::Cloud(_)));
        if let Some(cloud) = self.cloud.as_ref().filter(|_| asks_cloud) {
            return cloud.run(permit, setting, cancel).await;
        }
        let began = self.lab.clock().now();
        let said = match permit.words() {
            None => ProgramOutput::failed(
                127,
                "a lab answers single commands: there is no shell to run this text",
            ),
            Some(words) => {
                let words = words.to_vec();
                tokio::select! {
                    said = self.reply(&words, setting) => said,
                    () = cancel.canceled() => {
                        let mut stopped = Output::answered(0, Vec::new(), Vec::new(), Duration::ZERO, BY);
                        (stopped.exit_code, stopped.canceled) = (None, true);
                        return Ok(stopped);
                    }
                }
            }
        };
        let took = self.lab.clock().now().since(began);
        let ProgramOutput { out, err, exit } = said;
        let mut output = Output::answered(exit, out, err.into_bytes(), took, BY);
        let limit = setting.limits.output;
        output.stdout_truncated = output.stdout.len() > limit;
        output.stdout.truncate(limit);
        output.stderr_truncated = output.stderr.len() > limit;
        output.stderr.truncate(limit);
        Ok(output)
    }
}
