//! One end of a task: one machine, one capture, one file.

use serde::{Deserialize, Serialize};

use super::name::Role;
use super::text;
use crate::Name;
use crate::operation::{Issue, RetryPolicy};
use ghost_base::Timestamp;

/// How far an end is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum Phase {
    /// Reads before anything is changed.
    Checking {
        /// Which one is next.
        check: Check,
    },
    /// It may begin, with the other end.
    Ready,
    /// The command that begins it is in progress, or was when the process ended.
    Creating,
    /// It may have begun: it is looked for.
    Looking {
        /// How often it was not there.
        missed: u32,
    },
    /// The platform records.
    Recording,
    /// The file's size is asked for.
    Sizing {
        /// How often it was not there.
        missed: u32,
    },
    /// The file is fetched.
    Fetching {
        /// Its size.
        bytes: u64,
        /// How often it went wrong.
        failed: u32,
    },
    /// The file is read.
    Verifying {
        /// Its size.
        bytes: u64,
        /// How often it went wrong.
        failed: u32,
    },
    /// The file is here, and it is a capture.
    Kept {
        /// Its size.
        bytes: u64,
        packets: u64,
        /// It ends within a packet.
        cut_off: bool,
    },
    /// There is no file, and there will be none unless somebody says go on.
    Failed,
}

/// A read before anything is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The machine: is it there, does it run, where is it?
    Machine,
    Extensions,
    /// The captures of the region.
    Captures,
    /// Captures of the same machine, each of which may still record.
    Rivals(Vec<String>),
    /// The name of the file.
    Taken,
    /// None is left.
    Passed,
}

/// Whether something of ours is in the cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// It never was.
    Never,
    /// Nobody knows.
    Perhaps,
    There,
    /// It was, and is gone.
    Gone,
}

/// How far it is with removing it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Removal {
    /// It has not begun.
    No,
    /// The command is in progress, or was when the process ended.
    Executing,
    /// The command is over: it is made sure that it is gone.
    Confirming,
    /// It stays until somebody says otherwise.
    Held(Issue),
}

/// Something of ours in the cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudObject {
    /// Whether it is there.
    pub left: Left,
    /// How far it is with removing it.
    pub removal: Removal,
}

impl CloudObject {
    /// Tells whether it is, or may be, in the cloud.
    #[must_use]
    pub fn remains(&self) -> bool {
        matches!(self.left, Left::There | Left::Perhaps)
    }
}

/// How far it is with ending a capture early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Nothing was asked.
    No,
    /// The command is in progress, or was when the process ended.
    Executing {
        /// How many commands before it had no effect.
        before: u32,
    },
    /// How many commands are over.
    Sent(u32),
    /// It goes on to its end.
    Held,
}

/// One end of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureTarget {
    /// Which end.
    pub role: Role,
    #[serde(with = "text")]
    pub machine: Name,
    /// The capture's name; the file is `NAME.cap`.
    #[serde(with = "text")]
    pub name: Name,
    /// The machine's region, as soon as it is known.
    #[serde(with = "text::option")]
    pub region: Option<Name>,
    /// How far it is.
    pub phase: Phase,
    pub capture: CloudObject,
    /// Its file in the storage account.
    pub blob: CloudObject,
    /// How far it is with ending it early.
    pub stop: Stop,
    /// Since when it records, as far as we know.
    #[serde(with = "text::option")]
    pub since: Option<Timestamp>,
    /// Why it ended, in the platform's word.
    pub stop_reason: Option<String>,
    /// What went wrong.
    pub trouble: Option<Issue>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// The evidence may still be had: `wait` goes on, and nothing is removed unless somebody says so.
    pub resumable: bool,
    pub(super) polls: u32,
    pub(super) patience: RetryPolicy,
    #[serde(with = "text::option")]
    pub(super) not_before: Option<Timestamp>,
}

impl CaptureTarget {
    pub(super) fn new(role: Role, machine: Name, name: Name) -> Self {
        let never = || CloudObject { left: Left::Never, removal: Removal::No };
        Self {
            role,
            machine,
            name,
            region: None,
            phase: Phase::Checking { check: Check::Machine },
            capture: never(),
            blob: never(),
            stop: Stop::No,
            since: None,
            stop_reason: None,
            trouble: None,
            notes: Vec::new(),
            resumable: false,
            polls: 0,
            patience: RetryPolicy::default(),
            not_before: None,
        }
    }

    #[must_use]
    pub fn file(&self) -> String {
        format!("{}.cap", self.name)
    }

    /// Tells whether nothing more can come of it by itself.
    #[must_use]
    pub fn settled(&self) -> bool {
        matches!(self.phase, Phase::Kept { .. } | Phase::Failed)
    }

    /// Moves on; what was tried before does not count against what comes.
    pub(super) fn turn(&mut self, phase: Phase) {
        self.phase = phase;
        self.patience = RetryPolicy::default();
        self.not_before = None;
    }

    /// Gives up.
    pub(super) fn fail(&mut self, trouble: Issue) {
        self.turn(Phase::Failed);
        self.trouble.get_or_insert(trouble);
    }

    /// Gives up what may go on later: what is in the cloud stays there.
    pub(super) fn suspend(&mut self, trouble: Issue) {
        self.trouble = None;
        self.fail(trouble);
        self.resumable = true;
    }

    pub(super) fn wait(&mut self, until: Timestamp) {
        self.not_before = Some(until);
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) && self.notes.len() < 20 {
            self.notes.push(note);
        }
    }
}
