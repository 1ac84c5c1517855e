//! How far a task is.

use serde::{Deserialize, Serialize};

use super::target::{CaptureTarget, CloudObject, Phase, Removal, Stop};
use super::task::{CaptureTask, RequestedState};

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It reads; nothing was changed yet.
    Checking,
    /// It begins.
    Creating,
    /// The platform records.
    Recording,
    /// It is being ended early.
    Stopping,
    /// The files are fetched.
    Downloading,
    /// They are analyzed.
    Analyzing,
    /// What is in the cloud is removed.
    CleaningUp,
    /// Something of ours is, or may be, left in the cloud.
    NeedsCleanup,
    /// There is a result, and nothing is left.
    Done,
    /// There is no result, and nothing is left.
    Failed,
    /// It was ended before there was a result, and nothing is left.
    Canceled,
}

impl State {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Checking => "checking",
            Self::Creating => "creating",
            Self::Recording => "recording",
            Self::Stopping => "stopping",
            Self::Downloading => "downloading",
            Self::Analyzing => "analyzing",
            Self::CleaningUp => "cleaning_up",
            Self::NeedsCleanup => "needs_cleanup",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }

    /// Tells whether nothing more happens by itself.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::NeedsCleanup | Self::Done | Self::Failed | Self::Canceled)
    }
}

impl CaptureTask {
    /// Says how far it is.
    #[must_use]
    pub fn state(&self) -> State {
        if let Some(end) = self.ends.iter().find(|end| !end.settled()) {
            return match &end.phase {
                Phase::Checking { .. } | Phase::Ready => State::Checking,
                Phase::Creating | Phase::Looking { .. } => State::Creating,
                Phase::Recording if self.ending(end) => State::Stopping,
                Phase::Recording => State::Recording,
                Phase::Sizing { .. } | Phase::Fetching { .. } | Phase::Verifying { .. } => State::Downloading,
                Phase::Kept { .. } | Phase::Failed => State::Failed,
            };
        }
        let kept = self.ends.iter().any(|end| matches!(end.phase, Phase::Kept { .. }));
        if kept && self.analysis.is_none() {
            return State::Analyzing;
        }
        let things = || self.ends.iter().flat_map(|end| [(end, &end.capture), (end, &end.blob)]);
        if things().any(|(end, thing)| self.is_busy(end, thing)) {
            State::CleaningUp
        } else if things().any(|(_, thing)| thing.remains()) {
            State::NeedsCleanup
        } else if kept {
            State::Done
        } else if self.wish != RequestedState::GoOn {
            State::Canceled
        } else {
            State::Failed
        }
    }

    fn ending(&self, end: &CaptureTarget) -> bool {
        self.wish != RequestedState::GoOn && end.stop != Stop::Held
    }

    /// Tells whether something of an end is being removed, or is to be.
    pub(super) fn is_busy(&self, end: &CaptureTarget, thing: &CloudObject) -> bool {
        thing.remains()
            && match thing.removal {
                Removal::No => !end.resumable || self.discard,
                Removal::Executing | Removal::Confirming => true,
                Removal::Held(_) => false,
            }
    }
}
