//! What the caller gets back.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::{Clipping, Verdict};

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The command ran, whatever its exit code.
    Completed,
    /// A human said no, or nobody answered.
    Denied,
    /// It did not run, or its end is not known.
    Error,
}

/// Who settled it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The policy calls it SAFE.
    AutoApproved,
    /// A human approved it as it was proposed.
    UserApproved,
    /// A human denied it.
    UserDenied,
    /// A human changed it, and the changed command ran.
    UserModified,
    /// The approver failed.
    UserAbandoned,
    /// Nobody answered in time.
    Expired,
    /// The policy forbids it, or there was nothing to run.
    Blocked,
}

impl Action {
    /// Returns the word of the contracts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AutoApproved => "auto_approved",
            Self::UserApproved => "user_approved",
            Self::UserDenied => "user_denied",
            Self::UserModified => "user_modified",
            Self::UserAbandoned => "user_abandoned",
            Self::Expired => "expired",
            Self::Blocked => "blocked",
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// The policy forbids it.
    Blocked,
    /// It ran too long and was stopped; what it printed until then is there.
    Timeout,
    /// Its output could not be redacted and is withheld.
    RedactionFailure,
    /// There is no command, or no reasoning.
    EmptyCommand,
    /// The audit could not be written: the command did not run, or its end is not recorded.
    AuditFailed,
    /// The program could not be started.
    SpawnFailed,
    /// The caller stopped it.
    Canceled,
}

impl Problem {
    /// Returns the word of the contracts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Timeout => "timeout",
            Self::RedactionFailure => "redaction_failure",
            Self::EmptyCommand => "empty_command",
            Self::AuditFailed => "audit_failed",
            Self::SpawnFailed => "spawn_failed",
            Self::Canceled => "canceled",
        }
    }
}

/// What is known about the output beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputMetadata {
    /// How standard output was clipped.
    pub stdout: Clipping,
    /// How standard error was clipped.
    pub stderr: Clipping,
    /// How many secrets were taken out.
    pub redactions: usize,
    /// Of which kinds.
    pub redaction_categories: Vec<&'static str>,
    /// Bytes that the command printed, both streams.
    pub bytes: u64,
    /// More was printed than is kept.
    pub truncated: bool,
    /// A process that was left behind still held the output.
    pub still_open: bool,
    /// Digest of the whole redacted standard output, under which it lies in the evidence folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What the process was kept from doing.
    pub sandbox: String,
}

/// The answer to one proposed command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Response {
    /// How it ended.
    pub status: Status,
    /// The verdict on what was proposed, or on what a human made of it.
    pub classification: Verdict,
    /// Who settled it.
    pub action: Action,
    /// The command's exit code, `None` where it did not run or a signal ended it.
    pub exit_code: Option<i32>,
    /// Standard output: redacted, then clipped.
    pub output: String,
    /// Standard error: redacted, then clipped.
    pub stderr: String,
    /// What went wrong.
    pub error: Option<Problem>,
    /// Names the command's records in the audit; empty where the audit could not be written.
    pub audit_id: String,
    /// How long the command ran.
    pub duration_seconds: Option<f64>,
    /// What is known about the output; an empty object where there is none.
    #[serde(serialize_with = "object")]
    pub output_metadata: Option<OutputMetadata>,
    /// The deciding rule.
    pub rule: String,
    /// Why it was settled so: the rule's reason, or what the human said.
    pub reason: String,
    /// What could be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The command that ran, where a human changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_command: Option<String>,
    /// The head of the audit chain after this command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_head: Option<String>,
}

fn object<S: Serializer>(metadata: &Option<OutputMetadata>, out: S) -> Result<S::Ok, S::Error> {
    match metadata {
        Some(metadata) => metadata.serialize(out),
        None => out.serialize_map(Some(0))?.end(),
    }
}
