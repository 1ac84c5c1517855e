//! The document: plain data, in the order in which it is read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Now;
use crate::{Confidence, Outcome};
use ghost_shell::{Impact, redact};

/// A post-mortem. Its texts are data: whoever draws them escapes them. Moments are RFC 3339 in UTC, lengths of time are seconds.
///
/// What shows a line stands in its `evidence`: `o3` is an observation of `evidence`, `s2` a command of the audit, `e14` an event of the
/// session's ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Postmortem {
    /// The format of the document; what reads it refuses a later one.
    pub format: u32,
    pub session: String,
    /// The version of the program that investigated.
    pub version: String,
    /// The hash of the last event that it tells of.
    pub head: String,
    /// The head of the audit chain.
    pub audit_head: Option<String>,
    pub title: String,
    /// What is wrong and what to do, in one or two sentences.
    pub summary: String,
    /// `null` while it runs.
    pub outcome: Option<Outcome>,
    pub confidence: Option<Confidence>,
    /// The complaint in the words in which it came.
    pub symptom: String,
    /// Who asked, or which program.
    pub asked_by: String,
    /// Where: `terminal` or a messenger.
    pub place: String,
    /// The alert that opened the session, where one did.
    pub alert: Option<PostmortemAlert>,
    pub times: Times,
    pub timeline: Vec<TimelineLine>,
    pub causes: Vec<PostmortemCause>,
    /// What was changed, as far as the activity log says.
    pub activity_log: ActivityLog,
    /// The questions to people and what came of them.
    pub decisions: Vec<Decided>,
    /// What was carried out with consent and changed something, or may have.
    pub changed: Vec<ShownLine>,
    /// What was checked again after the report.
    pub verified: Vec<VerifiedFault>,
    pub ruled_out: Vec<ShownLine>,
    pub not_checked: Vec<ShownLine>,
    pub actions: Vec<ActionItem>,
    /// What was read, a line each.
    pub evidence: Vec<EvidenceLine>,
}

/// What an alert said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostmortemAlert {
    /// The name of its source in the configuration.
    pub source: String,
    pub title: String,
    pub severity: Option<String>,
    pub links: Vec<String>,
}

/// When things happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// When the symptom was first seen, as far as anybody recorded that.
    pub first_symptom: String,
    /// Who says so.
    pub first_symptom_from: String,
    pub reported: String,
    /// From the report of the symptom to the first sign of the bot in its thread; `null` where it has none.
    pub acknowledged_after_seconds: Option<u64>,
    /// To the first cause that code accepted; `null` where none was.
    pub cause_after_seconds: Option<u64>,
    /// To the first answer.
    pub answered_after_seconds: Option<u64>,
    /// How long people took over all questions together.
    pub waited_for_people_seconds: u64,
    /// When it was verified that no fault of the report is left; `null` where nobody did.
    pub verified: Option<String>,
}

/// One moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineLine {
    pub at: String,
    pub text: String,
    pub evidence: Vec<String>,
}

/// A sentence and what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownLine {
    pub text: String,
    pub evidence: Vec<String>,
}

/// A fault that code accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostmortemCause {
    pub code: String,
    pub object: String,
    pub title: String,
    /// Why it holds.
    pub shown: Vec<String>,
    /// How such a fault shows itself.
    pub effect: Option<String>,
    /// Since when it is so, and who made it so, as far as that is known.
    pub since: Option<String>,
    pub proof: Vec<Proof>,
    pub evidence: Vec<String>,
}

/// Words of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    pub observation: String,
    pub quote: Option<String>,
}

/// What the activity log says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityLog {
    /// Whether it was read, from when to when, or why not.
    pub read: String,
    /// The changes that have to do with the causes, and those that were asked for.
    pub changes: Vec<ShownLine>,
}

/// A question to people and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub approval: String,
    /// What was asked, in words.
    pub what: String,
    /// The commands, each whole; the purpose of a declared script.
    pub commands: Vec<String>,
    pub impact: Impact,
    /// What it was expected to do, where that was judged.
    pub forecast: Option<String>,
    /// Whether that came true, where it was looked at again.
    pub checked: Vec<String>,
    pub asked_at: String,
    /// `approved`, `denied`, `modified`, `expired` or `open`.
    pub answer: String,
    pub by: Option<String>,
    pub at: Option<String>,
    /// The reason of a no, or the command that took the place of the one that was asked.
    pub reason: Option<String>,
    pub votes: Vec<Vote>,
    /// What became of it.
    pub then: String,
    pub evidence: Vec<String>,
}

/// What one person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    pub by: String,
    pub approves: bool,
    pub at: String,
}

/// A fault before and now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedFault {
    pub at: String,
    pub title: String,
    pub before: String,
    pub after: String,
    pub now: Now,
    pub evidence: Vec<String>,
}

/// Something that is left to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionItem {
    pub text: String,
    /// What belongs to it: the command, its check, its risk.
    pub details: Vec<String>,
    pub evidence: Vec<String>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceLine {
    pub id: String,
    pub what: String,
    pub how: String,
    pub at: String,
    /// The digest of the whole redacted text.
    pub digest: String,
}

/// Members that hold what no person wrote: names, hashes, moments.
const NO_PROSE: [&str; 17] = [
    "format",
    "session",
    "version",
    "head",
    "audit_head",
    "outcome",
    "confidence",
    "at",
    "asked_at",
    "evidence",
    "approval",
    "impact",
    "answer",
    "now",
    "observation",
    "digest",
    "id",
];

impl Postmortem {
    /// The format that this program writes.
    pub const FORMAT: u32 = 1;

    /// Hides the secrets that people wrote into the texts, as the gate does with the output of commands.
    #[must_use]
    pub(super) fn without_secrets(self) -> Self {
        let Ok(mut document) = serde_json::to_value(&self) else { return self };
        hide(&mut document);
        // What was just written can be read.
        serde_json::from_value(document).unwrap_or(self)
    }
}

fn hide(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact(text).into_string(),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(members) => {
            for (name, member) in members {
                let is_list_of_documents =
                    member.as_array().is_some_and(|items| items.iter().any(Value::is_object));
                if is_list_of_documents || !NO_PROSE.contains(&name.as_str()) {
                    hide(member);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
