//! What is said of changes, in sentences. Times come in from the caller, who knows how they are written there.

use std::time::Duration;

use ghost_base::Timestamp;

use super::attribute::{NoEntry, Origin, Possible, Unconnected};
use super::change::{Action, Change, Log, Status};

/// What a lead is counted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// Somebody said when it failed first.
    FirstFailure,
    /// Nobody did: it failed when it was reported, at the latest.
    Reported,
}

impl Reference {
    const fn words(self) -> &'static str {
        match self {
            Self::FirstFailure => "the first failure",
            Self::Reported => "it was reported",
        }
    }
}

/// Returns a length of time as people say it: `4 minutes`, `1 hour`, `3 days`.
#[must_use]
pub fn duration(length: Duration) -> String {
    let seconds = length.as_secs();
    let (number, unit) = match seconds {
        0..90 => (seconds, "second"),
        90..5400 => ((seconds + 30) / 60, "minute"),
        5400..172_800 => ((seconds + 1800) / 3600, "hour"),
        _ => ((seconds + 43_200) / 86_400, "day"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

impl Change {
    /// Says what was done, when, by whom, and how it ended: `rule r of a was created 02:13 by deploy-pipeline (succeeded)`.
    #[must_use]
    pub fn sentence(&self, when: impl Fn(Timestamp) -> String) -> String {
        let (what, how) = (self.resource.words(), self.status.as_str());
        let (when, who) = (when(self.at), self.who.words());
        match self.status {
            Status::Succeeded => format!("{what} {} {when} by {who} ({how})", self.action.words()),
            Status::Failed | Status::Canceled | Status::Unfinished => {
                let verb = match &self.action {
                    Action::Created | Action::Updated | Action::Written => "write",
                    Action::Deleted => "delete",
                    Action::Invoked(verb) => verb,
                };
                format!("{who} tried to {verb} {what} {when} ({how})")
            }
        }
    }
}

impl Log {
    /// Says what the log tells of an object, in one sentence without its full stop.
    #[must_use]
    pub fn origin_sentence(
        &self,
        object: &str,
        origin: &Origin,
        reference: Reference,
        when: impl Fn(Timestamp) -> String,
    ) -> String {
        let before = |lead: &Option<Duration>| match lead {
            Some(lead) => format!(", {} before {}", duration(*lead), reference.words()),
            None => String::new(),
        };
        let sentence_of =
            |at: &usize| self.changes.get(*at).map(|change| change.sentence(&when)).unwrap_or_default();
        match origin {
            Origin::MadeBy { change, lead } => format!("{}{}", sentence_of(change), before(lead)),
            Origin::MayBe { change, lead, why } => {
                let why = match why {
                    Possible::Whole => format!("; that may have changed {object}, the log does not say"),
                    Possible::Beside => format!("; that may be why {object} decides"),
                    Possible::LongBefore => {
                        "; so long before, it does not by itself explain why it fails now".to_owned()
                    }
                };
                format!("{}{}{why}", sentence_of(change), before(lead))
            }
            Origin::None { why, scripts } => {
                let none = match why {
                    NoEntry::InsideMachine => format!(
                        "the activity log has no entry of {object}: it does not record what happens inside machines"
                    ),
                    NoEntry::Learned => format!(
                        "the activity log has no entry of {object}: it does not record routes that are learned"
                    ),
                    NoEntry::NoResource => format!(
                        "the activity log has no entry of {object}: it is no resource that it records"
                    ),
                    NoEntry::Untouched => {
                        format!("the activity log has no entry of {object} in the time that was read")
                    }
                    NoEntry::Cut => format!(
                        "what was read of the activity log has no entry of {object}, and it is not all of it"
                    ),
                    NoEntry::Later(at) => format!(
                        "{}, after {}: that did not begin it, unless it began later than was said",
                        sentence_of(at),
                        reference.words()
                    ),
                };
                match scripts.first() {
                    Some(script) => {
                        format!("{none}; {}, and the log does not say what that did", sentence_of(script))
                    }
                    None => none,
                }
            }
        }
    }
}

impl Unconnected {
    /// Returns why a change is not blamed.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Failed => "it failed and changed nothing",
            Self::Canceled => "it was canceled",
            Self::Unfinished => "the log does not say that it succeeded",
            Self::AfterFailure => "it came after the first failure",
            Self::BeforeLastGood => "everything still worked after it",
            Self::Replaced => "a later change of the same object took its place",
            Self::CannotCause => "it cannot have caused this",
            Self::Beside => "it touched something else of the same resource",
            Self::Script => "it ran inside the machine, and the log does not say what it did",
            Self::OtherResource => "it touched another resource",
            Self::OnlyRead => "it changed nothing",
        }
    }
}
