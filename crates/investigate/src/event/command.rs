//! A command, from the proposal to its end.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Impact, StepId, text};
use ghost_base::Digest;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    pub step: StepId,
    /// The call that it belongs to.
    pub call: String,
    pub tool: String,
    pub command: String,
    /// Why it is wanted.
    pub reasoning: String,
    /// Which hypothesis it tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<String>,
    /// The declared script behind it, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<DeclaredScript>,
    /// All commands that one consent covers, this one among them, in order; empty where it stands alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<String>,
}

/// A declared script of the policy, and the words that carry it to its guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredScript {
    /// The words before its text.
    pub carrier: Vec<String>,
    /// Its name in the policy.
    pub script: String,
    pub variables: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classified {
    pub step: StepId,
    /// The round: every modification is a new one, from 1.
    pub round: u32,
    /// The command of this round.
    pub command: String,
    /// `SAFE`, `RISKY` or `BLOCKED`.
    pub verdict: String,
    /// The tier that decided.
    pub tier: u8,
    pub rule: String,
    pub reason: String,
    /// What it would do to the world, where a human has to be asked; absent in ledgers of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
    /// Binds consent to exactly this command.
    #[serde(with = "text")]
    pub digest: Digest,
    /// The policy by which it was judged.
    #[serde(with = "text")]
    pub policy: Digest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub step: StepId,
    /// What exactly.
    #[serde(with = "text")]
    pub digest: Digest,
    /// The approval that was used up for it; absent where none is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Executing {
    pub step: StepId,
    /// The fencing number of the owner that runs it.
    pub epoch: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub step: StepId,
    /// `completed`, `denied` or `error`.
    pub status: String,
    /// The verdict on what ran in the end.
    pub classification: String,
    /// Who settled it: `auto_approved`, `user_denied` and so on.
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Standard output, redacted and clipped.
    pub output: String,
    /// Standard error, redacted and clipped.
    pub stderr: String,
    /// The error word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it was settled so.
    pub reason: String,
    /// What could be done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The command that ran, where a human changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_command: Option<String>,
    /// Names the records of the audit.
    pub audit_id: String,
    /// The head of the audit chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_head: Option<String>,
    /// How long it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The digest of the whole redacted output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What is known about the output.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output_metadata: Value,
    /// The store had lost this end, and the audit knew it; not so in ledgers of before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restored: bool,
}

/// What the investigation reads of what is known about an output; the rest is kept as the gate wrote it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OutputFacts {
    pub(crate) stdout: ShownFacts,
    /// The digest of the whole redacted output.
    pub(crate) evidence: Option<String>,
}

/// How much of a stream is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ShownFacts {
    /// Whether anything was left out.
    pub(crate) applied: bool,
    pub(crate) total_bytes: Option<u64>,
}

impl Done {
    /// Reads what is known about the output. An event of a command that did not run knows nothing.
    pub(crate) fn output_facts(&self) -> OutputFacts {
        OutputFacts::deserialize(&self.output_metadata).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unknown {
    pub step: StepId,
    /// The fencing number of the owner that went away.
    pub epoch: u64,
}
