//! One command of a task, and its result.

use crate::line::Line;
use ghost_base::Timestamp;

/// What a command is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepKind {
    /// Examines the machine.
    Machine,
    /// Examines its extensions.
    Extensions,
    /// Searches for the watchers of the subscription.
    Watchers,
    /// Lists the captures of the region.
    Captures,
    /// Asks how another capture of the machine is.
    Rival(String),
    /// Examines the storage account.
    Account,
    /// Searches for the container.
    Container,
    /// Asks whether a file of that name is there already.
    Taken,
    /// Begins the capture.
    Create,
    /// Asks whether a capture that may have begun is there.
    Look,
    /// Asks how far the capture is.
    Status,
    /// Ends it.
    Stop,
    /// Asks how large the file is.
    Size,
    /// Fetches the file.
    Fetch,
    /// Removes the capture.
    Delete,
    /// Removes the file.
    DeleteBlob,
    /// Makes sure that the capture is gone.
    Confirm,
    /// Makes sure that the file is gone.
    ConfirmBlob,
}

/// What a command changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It begins a capture.
    Begin,
    /// It ends one.
    CaptureTarget,
    /// It takes something away.
    Remove,
}

impl StepKind {
    /// True if the step deletes a resource of the cloud.
    #[must_use]
    pub fn is_removal(&self) -> bool {
        self.change() == Some(Change::Remove)
    }

    /// Returns what it changes; what only reads changes nothing.
    pub(super) fn change(&self) -> Option<Change> {
        match self {
            Self::Create => Some(Change::Begin),
            Self::Stop => Some(Change::CaptureTarget),
            Self::Delete | Self::DeleteBlob => Some(Change::Remove),
            Self::Machine
            | Self::Extensions
            | Self::Watchers
            | Self::Captures
            | Self::Rival(_)
            | Self::Account
            | Self::Container
            | Self::Taken
            | Self::Look
            | Self::Status
            | Self::Size
            | Self::Fetch
            | Self::Confirm
            | Self::ConfirmBlob => None,
        }
    }
}

/// One command of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureStep {
    pub what: StepKind,
    /// Which end of the task it is about.
    pub end: usize,
    /// The command.
    pub line: Line,
    /// Why; a human who is asked reads it.
    pub why: String,
    /// How many bytes have to be free in the captures folder for it.
    pub room: Option<u64>,
}

impl CaptureStep {
    /// Returns the command as the shell reads it.
    #[must_use]
    pub fn command(&self) -> String {
        self.line.text()
    }
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    Run(Box<CaptureStep>),
    /// Read a file that was fetched: is it a capture, is it whole, how many packets does it hold?
    Verify {
        end: usize,
        /// The file's name in the captures folder.
        file: String,
        /// Its size as the platform reports it.
        bytes: u64,
    },
    /// Analyze what there is.
    Analyze(Vec<AnalysisJob>),
    /// Ask again at this moment.
    Wait {
        /// When.
        until: Timestamp,
        /// What is waited for.
        why: String,
    },
    /// Nothing more is done by itself.
    Over,
}

/// A file that is to be analyzed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysisJob {
    /// Which end it is of.
    pub role: super::Role,
    /// Its name without an ending: `NAME.cap` is read, `NAME_semantic.json` and `NAME_forensic_report.md` are written.
    pub name: String,
    /// The name that a comparison takes.
    pub pair: String,
}
