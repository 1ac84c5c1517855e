//! What one record says, apart from its place in the chain.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};

use crate::{Reviewer, Tier, Verdict};
use ghost_base::{Digest, Timestamp};

/// What a record stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something was settled without a run: blocked, denied, expired, abandoned, or one round of a modification.
    Decided,
    /// Somebody else may run it; on the disk before they learn it.
    Admitted,
    /// A process is about to start; on the disk before it does.
    Intent,
    /// That process ended, or could not start.
    Done,
}

/// One thing that happened. Absent fields leave no key behind.
///
/// All text is written as it is given: the caller redacts first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The command that this record belongs to; `None` begins a new one, whose id the receipt tells.
    #[serde(skip)]
    pub audit_id: Option<String>,
    /// What the record stands for.
    pub kind: Kind,
    /// The command, redacted.
    pub command: String,
    /// Why the agent wanted it, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Which round of a modification this is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// What the gate answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Which part of the policy decided; written as its number.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "tier_number")]
    pub tier: Option<Tier>,
    /// Stable name of the deciding rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Cow<'static, str>>,
    /// Why it decided so; for a denial, what the human said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'static, str>>,
    /// Digest of the policy in force.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digest_text")]
    pub policy_digest: Option<Digest>,
    /// Digest of exactly what runs, before redaction.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digest_text")]
    pub argv_digest: Option<Digest>,
    /// Digest of the plan whose step this is.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digest_text")]
    pub plan_digest: Option<Digest>,
    /// How it was settled: `auto_approved`, `user_denied` and the other words of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Cow<'static, str>>,
    /// Who settled it, where a human did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approver: Option<Approval>,
    /// The consent that the run uses up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// Which identity acts: the reader's or the acting one's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// What held the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Confinement>,
    /// The response's status: `completed`, `denied` or `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Cow<'static, str>>,
    /// How the process ended; absent where a signal ended it or none ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The response's error word, such as `timeout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'static, str>>,
    /// How long the process ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The whole output, as it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// How many secrets were taken out of command, reasoning and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redactions: Option<u64>,
}

/// Who approved or denied, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The name that the approver knows them by.
    pub who: String,
    /// When they answered, RFC 3339 in UTC.
    pub at: String,
}

/// An approved question, by its name and by what exactly was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// The name of the question.
    pub question: String,
    /// The digest that binds the answer to what was shown.
    pub digest: String,
}

/// What held a process, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confinement {
    /// `confined`, `unconfined`, or whatever else the runner calls it.
    pub state: String,
    /// Each layer, and each one that was missing.
    pub details: Vec<String>,
}

/// A stored output that the record vouches for without holding it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Digest of the stored bytes.
    #[serde(serialize_with = "as_text")]
    pub sha256: Digest,
    /// How many bytes are stored.
    pub bytes: u64,
}

impl Entry {
    /// Starts an entry that says nothing but its kind and its command.
    #[must_use]
    pub fn new(kind: Kind, command: impl Into<String>) -> Self {
        Self {
            audit_id: None,
            kind,
            command: command.into(),
            reasoning: None,
            round: None,
            verdict: None,
            tier: None,
            rule: None,
            reason: None,
            policy_digest: None,
            argv_digest: None,
            plan_digest: None,
            action: None,
            approver: None,
            consent: None,
            identity: None,
            sandbox: None,
            status: None,
            exit_code: None,
            error: None,
            duration_ms: None,
            evidence: None,
            redactions: None,
        }
    }
}

impl Approval {
    /// Notes who answered, and when.
    #[must_use]
    pub fn new(who: &Reviewer, at: Timestamp) -> Self {
        Self { who: who.to_string(), at: at.to_string() }
    }
}

fn tier_number<S: Serializer>(tier: &Option<Tier>, out: S) -> Result<S::Ok, S::Error> {
    tier.map(Tier::number).serialize(out)
}

fn digest_text<S: Serializer>(digest: &Option<Digest>, out: S) -> Result<S::Ok, S::Error> {
    digest.as_ref().map(Digest::to_string).serialize(out)
}

fn as_text<S: Serializer>(digest: &Digest, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_fields_leave_no_key() {
        let text = serde_json::to_string(&Entry::new(Kind::Decided, "ls")).unwrap();
        assert_eq!(text, r#"{"kind":"decided","command":"ls"}"#);
    }

    #[test]
    fn an_entry_is_written_in_the_words_of_the_contracts() {
        let at = Timestamp::from_millis(0);
        let entry = Entry {
            verdict: Some(Verdict::Risky),
            tier: Some(Tier::Unknown),
            approver: Some(Approval::new(&Reviewer::new("U1"), at)),
            argv_digest: Some(Digest::of("abc")),
            evidence: Some(Evidence { sha256: Digest::of(""), bytes: 0 }),
            ..Entry::new(Kind::Intent, "reboot")
        };
        let value = serde_json::to_value(entry).unwrap();
        assert_eq!(
            value,
            serde_json::json!({
                "kind": "intent", "command": "reboot", "verdict": "RISKY", "tier": 4,
                "approver": {"who": "U1", "at": "1970-01-01T00:00:00.000Z"},
                "argv_digest": Digest::of("abc").to_string(),
                "evidence": {"sha256": Digest::of("").to_string(), "bytes": 0},
            })
        );
    }
}
