//! Changes and what came of them, as documents for other programs.

use serde::Serialize;

use super::attribute::{NoEntry, Origin, Possible, Unconnected};
use super::change::{Change, Log};

/// A change as other programs read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportedChange {
    /// When it began.
    pub at: String,
    /// When it ended.
    pub ended: Option<String>,
    /// Who did it.
    pub who: String,
    /// What the log calls them.
    pub caller: String,
    /// What kind of caller that is.
    pub caller_kind: &'static str,
    /// What was done: `created`, `updated`, `written`, `deleted`, or another verb.
    pub action: String,
    /// The operation, as the log calls it.
    pub operation: String,
    /// The id of the resource.
    pub resource: String,
    /// Its name as the object of a finding, where it has one.
    pub object: Option<String>,
    /// `succeeded`, `failed`, `canceled` or `unfinished`.
    pub status: &'static str,
    /// What joins it with other logs.
    pub correlation: Option<String>,
}

impl From<&Change> for ReportedChange {
    fn from(change: &Change) -> Self {
        Self {
            at: change.at.to_string(),
            ended: change.ended.map(|at| at.to_string()),
            who: change.who.words(),
            caller: change.who.id.clone(),
            caller_kind: change.who.kind.as_str(),
            action: change.action.to_string(),
            operation: change.operation.clone(),
            resource: change.resource.id.clone(),
            object: change.resource.object(),
            status: change.status.as_str(),
            correlation: change.correlation.clone(),
        }
    }
}

/// What the log says about an object, as other programs read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportedOrigin {
    /// `made_by`, `may_be` or `none`.
    pub result: &'static str,
    /// The change, where there is one.
    pub change: Option<ReportedChange>,
    /// How many seconds before the first failure it began.
    pub seconds_before: Option<u64>,
    /// Why it is not certain, or why there is no entry.
    pub why: Option<&'static str>,
}

impl Log {
    /// Returns an origin as other programs read it.
    #[must_use]
    pub fn reported(&self, origin: &Origin) -> ReportedOrigin {
        let change = |at: &usize| self.changes.get(*at).map(ReportedChange::from);
        let seconds = |lead: &Option<std::time::Duration>| lead.map(|lead| lead.as_secs());
        match origin {
            Origin::MadeBy { change: at, lead } => ReportedOrigin {
                result: "made_by",
                change: change(at),
                seconds_before: seconds(lead),
                why: None,
            },
            Origin::MayBe { change: at, lead, why } => ReportedOrigin {
                result: "may_be",
                change: change(at),
                seconds_before: seconds(lead),
                why: Some(why.as_str()),
            },
            Origin::None { why, .. } => {
                ReportedOrigin { result: "none", change: None, seconds_before: None, why: Some(why.as_str()) }
            }
        }
    }
}

impl Possible {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Beside => "beside",
            Self::LongBefore => "long_before",
        }
    }
}

impl NoEntry {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InsideMachine => "inside_machine",
            Self::Learned => "learned",
            Self::NoResource => "no_resource",
            Self::Untouched => "untouched",
            Self::Cut => "cut",
            Self::Later(_) => "after_failure",
        }
    }
}

impl Unconnected {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Unfinished => "unfinished",
            Self::AfterFailure => "after_failure",
            Self::BeforeLastGood => "before_last_good",
            Self::Replaced => "replaced",
            Self::CannotCause => "cannot_cause",
            Self::Beside => "beside",
            Self::Script => "script",
            Self::OtherResource => "other_resource",
            Self::OnlyRead => "only_read",
        }
    }
}
