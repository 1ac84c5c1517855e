//! What a tool is, and what it is given.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::event::{DeclaredScript, Event, EvidenceSource, ObservationId, Refusal};
use crate::fence::Fence;
use crate::model::ToolSpec;
use crate::state::{CallState, State, Step};
use crate::suspect::SupportedFaults;
use crate::tool::Registry;
use ghost_base::{Digest, Timestamp};

/// What a model may call.
pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// Says what is to be done next. It is asked at the beginning and after each of its commands.
    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction;

    /// Says what one of its calls still has to clear up once the report is delivered; nothing for a tool that leaves nothing. It is asked
    /// again after each command.
    fn behind_report(
        &self,
        _arguments: &Map<String, Value>,
        _context: &CallContext<'_>,
    ) -> Option<ToolAction> {
        None
    }

    /// Returns what the record of one of its calls supports. It is read again from what was recorded, whoever asks.
    fn supports(&self, _arguments: &Map<String, Value>, _context: &CallContext<'_>) -> SupportedFaults {
        SupportedFaults::default()
    }
}

/// What a call does next.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolAction {
    /// Run this, then ask again.
    Run(Box<ProposedCommand>),
    /// Run these, then ask again. None needs the result of another: those that only read run side by side.
    RunAll(Vec<ProposedCommand>),
    /// Do this on the files of this machine, then ask again.
    FileTask(FileTask),
    /// Ask again at this moment.
    Wait(Timestamp),
    /// It is over.
    Return(Box<CallResult>),
}

/// A command that a tool wants to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCommand {
    pub command: String,
    /// Why; a human who is asked reads it.
    pub reasoning: String,
    /// Which hypothesis it tests.
    pub hypothesis: Option<String>,
    /// The declared script behind it, where it is one; `command` is then the whole line as it will run.
    pub script: Option<DeclaredScript>,
    /// All commands that one consent covers, this one among them, in order; empty where it stands alone.
    pub plan: Vec<String>,
}

/// Work on files of this machine. It starts no process and asks nobody. Its result is recorded as an observation, whose `what` is
/// [`FileTask::what`], so that a replay finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "chore", rename_all = "snake_case")]
pub enum FileTask {
    /// Read a fetched capture: how many packets, and whether it was cut off. Comes to `{"packets": n, "cut_off": bool}`.
    Verify {
        /// Its name in the captures folder.
        file: String,
        /// Its size as the platform reported.
        bytes: u64,
    },
    /// Put packets that a machine recorded into the captures folder. Comes to `{"kept": name}`.
    Store {
        /// Its name in the captures folder.
        file: String,
        /// The capture file, in base64.
        text: String,
    },
    /// Analyze fetched captures and write what belongs to them. Comes to the analysis and the semantic documents.
    Analyze {
        /// The files: role, name without an ending, name that a comparison takes.
        work: Vec<(String, String, String)>,
    },
    /// Read what was kept under a name before. Comes to the kept text, or to `null`.
    Recall {
        /// `effective`, `netfilter`, `meter`.
        kind: String,
        /// The session under which it is kept.
        session: String,
    },
    /// Keep a document under a name. Comes to `{"kept": name}`.
    Keep {
        /// `effective`, `netfilter`, `meter`.
        kind: String,
        /// The session under which it is to be kept.
        session: String,
        text: String,
    },
}

impl FileTask {
    /// Returns what it is called in the record. A text that it keeps is named by its digest: the text is no name.
    #[must_use]
    pub fn what(&self) -> String {
        let named = match self {
            Self::Keep { kind, session, text } => {
                let text = Digest::of(text).to_string();
                Self::Keep { kind: kind.clone(), session: session.clone(), text }
            }
            Self::Store { file, text } => {
                Self::Store { file: file.clone(), text: Digest::of(text).to_string() }
            }
            Self::Verify { .. } | Self::Analyze { .. } | Self::Recall { .. } => self.clone(),
        };
        serde_json::to_string(&named).unwrap_or_default()
    }

    /// Returns the source of its result.
    #[must_use]
    pub fn source(&self) -> EvidenceSource {
        match self {
            Self::Verify { .. } | Self::Store { .. } | Self::Analyze { .. } => EvidenceSource::Wire,
            Self::Recall { .. } | Self::Keep { .. } => EvidenceSource::Configured,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// What the model reads.
    pub content: Value,
    pub is_error: bool,
    /// Why it was refused before anything was tried.
    pub refused: Option<Refusal>,
    /// What happens beside it.
    pub events: Vec<Event>,
}

impl CallResult {
    /// Makes the result of a refused call.
    #[must_use]
    pub fn refuse(why: Refusal, reason: impl Into<String>) -> Self {
        let content = json!({ "status": "rejected", "reason": reason.into() });
        Self { content, is_error: true, refused: Some(why), events: Vec::new() }
    }

    /// Makes the result of a completed call.
    #[must_use]
    pub fn completed(content: Value) -> Self {
        Self { content, is_error: false, refused: None, events: Vec::new() }
    }
}

/// Why a text is not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    #[error("nothing is kept here")]
    ReadOnly,
    #[error("{}: {error}", path.display())]
    NotWritten { path: PathBuf, error: std::io::Error },
}

/// Where the whole text of an observation is found.
pub trait Evidence: Send + Sync {
    /// Returns a text by its digest.
    fn text(&self, digest: &str) -> Option<String>;

    /// Keeps a text, and returns the digest under which it is found.
    ///
    /// # Errors
    /// Fails where texts cannot be written.
    fn keep(&self, _text: &str) -> Result<Digest, EvidenceError> {
        Err(EvidenceError::ReadOnly)
    }
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvidence;

impl Evidence for NoEvidence {
    fn text(&self, _digest: &str) -> Option<String> {
        None
    }
}

/// Where what a tool reads comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reads {
    /// Its own commands run.
    #[default]
    New,
    /// Only what the session has read is there; everything else counts as not read.
    Recorded,
}

/// What a tool can read when it is asked for its next action.
pub struct CallContext<'a> {
    pub state: &'a State,
    pub call: &'a CallState,
    pub evidence: &'a dyn Evidence,
    pub tools: &'a Registry,
    /// The present moment.
    pub now: Timestamp,
    pub reads: Reads,
}

impl CallContext<'_> {
    /// Returns what the record of a call supports, read again by its tool.
    #[must_use]
    pub fn supported(&self, call: &CallState) -> SupportedFaults {
        let Value::Object(arguments) = &call.call.arguments else { return SupportedFaults::default() };
        let context = CallContext { call, ..*self };
        self.tools
            .find(&call.call.tool)
            .map_or_else(SupportedFaults::default, |tool| tool.supports(arguments, &context))
    }

    /// Returns the commands of the call, in order; all of them are over.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.call.steps.iter().filter_map(|id| self.state.step(*id))
    }

    /// Marks text of the outside, so that it is read as data.
    #[must_use]
    pub fn fence(&self, what: &str, text: &str) -> String {
        Fence::new(&self.state.opened.nonce).wrap(what, text)
    }

    /// Returns the whole text behind an observation: what was printed, then what was printed as an error.
    #[must_use]
    pub fn whole(&self, id: ObservationId) -> Option<String> {
        let observed = &self.state.observation(id)?.observed;
        let mut text = match self.evidence.text(&observed.digest.to_string()) {
            Some(text) => text,
            None if observed.bytes == 0 => String::new(),
            None => self.state.step(observed.step?)?.done.as_ref()?.output.clone(),
        };
        let done = observed.step.and_then(|step| self.state.step(step)?.done.as_ref());
        if let Some(stderr) = done.map(|done| done.stderr.as_str()).filter(|stderr| !stderr.is_empty()) {
            text.push('\n');
            text.push_str(stderr);
        }
        Some(text)
    }
}

/// Returns the source of a command's output. What is not recognized is a probe from this host.
#[must_use]
pub fn evidence_source(command: &str) -> EvidenceSource {
    let words: Vec<&str> = command.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let program =
        words.iter().find(|word| !matches!(**word, "sudo" | "timeout" | "env")).copied().unwrap_or("");
    match program.rsplit('/').next().unwrap_or(program) {
        "tcpdump" | "tshark" | "capinfos" => EvidenceSource::Wire,
        "ssh" => EvidenceSource::GuestProbe,
        "az" if has("run-command") => EvidenceSource::GuestProbe,
        "az" if words.iter().any(|word| word.contains("effective"))
            || has("test-ip-flow")
            || has("show-next-hop") =>
        {
            EvidenceSource::Effective
        }
        "az" => EvidenceSource::Configured,
        _ => EvidenceSource::LocalProbe,
    }
}
