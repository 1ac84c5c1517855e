//! What becomes of a command's output.

use std::path::Path;

use super::record::Case;
use super::response::{OutputMetadata, Problem, Response, Status};
use super::run::Shell;
use crate::audit::{Confinement, Entry, Evidence, Kind};
use crate::{ExecError, Mask, ModelText, Output, Verdict, clip, redact};
use ghost_base::{Digest, write_private};

/// Output after redaction and clipping.
struct Finished {
    stdout: ModelText,
    stderr: ModelText,
    redactions: usize,
    categories: Vec<&'static str>,
    evidence: Option<Evidence>,
}

impl Shell {
    /// Makes the response for a command that nothing ran for.
    pub(super) fn settled(
        case: &Case,
        status: Status,
        error: Option<Problem>,
        reason: impl Into<String>,
    ) -> Response {
        Response {
            status,
            classification: case.ruling.verdict,
            action: case.action,
            exit_code: None,
            output: String::new(),
            stderr: String::new(),
            error,
            audit_id: case.audit_id.clone().unwrap_or_default(),
            duration_seconds: None,
            output_metadata: None,
            rule: case.ruling.rule.clone().into_owned(),
            reason: reason.into(),
            hint: None,
            modified_command: None,
            audit_head: case.head.clone(),
        }
    }

    /// Redacts, keeps and clips the output of a run, and records its end.
    pub(super) async fn finish(&self, mut case: Case, ran: Result<Output, ExecError>) -> Response {
        let output = match ran {
            Ok(output) => output,
            Err(error) => return self.not_started(case, &error).await,
        };
        let mut response = Self::settled(&case, Status::Completed, None, case.ruling.reason.clone());
        response.exit_code = output.exit_code;
        response.duration_seconds = Some((output.duration.as_secs_f64() * 1000.0).round() / 1000.0);
        if output.timed_out {
            (response.status, response.error) = (Status::Error, Some(Problem::Timeout));
        } else if output.canceled {
            (response.status, response.error) = (Status::Error, Some(Problem::Canceled));
        }
        let mut entry = case.entry(self, Kind::Done);
        entry.exit_code = output.exit_code;
        entry.duration_ms = u64::try_from(output.duration.as_millis()).ok();
        entry.sandbox = Some(Confinement { state: output.sandbox(), details: output.sandbox_details() });
        match self.process(&output).await {
            Some(finished) => {
                entry.evidence.clone_from(&finished.evidence);
                let counted = u64::try_from(finished.redactions)
                    .unwrap_or(u64::MAX)
                    .saturating_add(entry.redactions.unwrap_or(0));
                entry.redactions = Some(counted).filter(|count| *count > 0);
                fill(&mut response, &output, finished, self.mask.as_ref());
            }
            // What could not be redacted is not shown and not kept.
            None => (response.status, response.error) = (Status::Error, Some(Problem::RedactionFailure)),
        }
        self.close(&mut case, entry, response).await
    }

    async fn not_started(&self, mut case: Case, error: &ExecError) -> Response {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        let mut response = Self::settled(&case, Status::Completed, None, case.ruling.reason.clone());
        response.exit_code = error.exit_code();
        response.stderr = redact(&format!("{error}{cause}\n")).into_string();
        response.hint = error.hint();
        // A program that is missing is an answer, as it is for a shell; anything else that kept it from starting is not.
        if response.exit_code != Some(127) {
            (response.status, response.error) = (Status::Error, Some(Problem::SpawnFailed));
        }
        let mut entry = case.entry(self, Kind::Done);
        entry.exit_code = response.exit_code;
        self.close(&mut case, entry, response).await
    }

    /// Writes the last record of a command. Where that fails the answer still tells what happened.
    async fn close(&self, case: &mut Case, mut entry: Entry, mut response: Response) -> Response {
        entry.status = Some(status_word(response.status).into());
        entry.error = response.error.map(|problem| problem.as_str().into());
        if let Err(error) = self.write(case, entry).await {
            (response.status, response.error) = (Status::Error, Some(Problem::AuditFailed));
            response.reason = format!("the command ran, but its end could not be recorded: {error}");
        }
        response.audit_head.clone_from(&case.head);
        response
    }

    async fn process(&self, output: &Output) -> Option<Finished> {
        let (stdout, stderr) = (output.stdout.clone(), output.stderr.clone());
        let (folder, limits) = (self.evidence.clone(), self.clip);
        let work = move || {
            let (stdout, stderr) =
                (redact(&String::from_utf8_lossy(&stdout)), redact(&String::from_utf8_lossy(&stderr)));
            let mut categories = stdout.categories();
            categories.extend(stderr.categories());
            categories.sort_unstable();
            categories.dedup();
            Finished {
                evidence: keep(&folder, stdout.as_str()),
                stdout: clip(&stdout, limits),
                stderr: clip(&stderr, limits),
                redactions: stdout.count() + stderr.count(),
                categories,
            }
        };
        tokio::task::spawn_blocking(work).await.ok()
    }
}

fn status_word(status: Status) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Denied => "denied",
        Status::Error => "error",
    }
}

fn fill(response: &mut Response, output: &Output, finished: Finished, mask: Option<&Mask>) {
    let shown =
        |text: &ModelText| mask.map_or_else(|| text.as_str().to_owned(), |mask| mask.mask(text.as_str()));
    response.output = shown(&finished.stdout);
    response.stderr = shown(&finished.stderr);
    response.output_metadata = Some(OutputMetadata {
        stdout: finished.stdout.clipping().clone(),
        stderr: finished.stderr.clipping().clone(),
        redactions: finished.redactions,
        redaction_categories: finished.categories,
        bytes: output.stdout_total.saturating_add(output.stderr_total),
        truncated: output.stdout_truncated || output.stderr_truncated,
        still_open: output.still_open,
        evidence: finished.evidence.as_ref().map(|evidence| evidence.sha256.to_string()),
        sandbox: output.sandbox(),
    });
}

/// Keeps the whole redacted output under its digest, where tools read it: clipped text is for people and models alone.
fn keep(folder: &Path, text: &str) -> Option<Evidence> {
    let (sha256, bytes) = (Digest::of(text), u64::try_from(text.len()).ok()?);
    let path = folder.join(format!("{sha256}.txt"));
    if text.is_empty() {
        return None;
    }
    let there = std::fs::metadata(&path).is_ok_and(|found| found.len() == bytes);
    if !there && let Err(error) = write_private(&path, text.as_bytes()) {
        tracing::error!("the whole output could not be kept as evidence: {error}");
        return None;
    }
    Some(Evidence { sha256, bytes })
}

impl Response {
    /// Tells whether nothing ran because somebody or the policy said no.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.status == Status::Denied
            || (self.classification == Verdict::Blocked && self.error == Some(Problem::Blocked))
    }
}
