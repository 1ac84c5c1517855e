//! Which change made what is at fault, and why the others did not.

use std::collections::BTreeMap;
use std::time::Duration;

use ghost_base::Timestamp;

use super::change::{Change, Log, Status};
use super::subject::{Relation, Subject};

/// What was changed longer ago than this does not by itself explain why something fails only now.
const NEAR: Duration = Duration::from_secs(36 * 3600);

/// What is known of the time of an incident.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Question {
    /// When it failed first; what began later did not cause it.
    pub first_failure: Option<Timestamp>,
    /// When it was last seen to work; what ended before did not break it.
    pub last_good: Option<Timestamp>,
}

/// What the log says about what is at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A change made it.
    MadeBy {
        /// The change, by its place in the log.
        change: usize,
        /// How long before the first failure it began, where that is known.
        lead: Option<Duration>,
    },
    /// A change may have made it, and the log alone does not tell.
    MayBe {
        /// The change, by its place in the log.
        change: usize,
        /// How long before the first failure it began, where that is known.
        lead: Option<Duration>,
        /// Why it is not certain.
        why: Possible,
    },
    /// The log has no entry of it.
    None {
        /// Why.
        why: NoEntry,
        /// Scripts that ran on the machine inside which it lies, by their places in the log: what they did is not in it.
        scripts: Vec<usize>,
    },
}

impl Origin {
    /// Returns the change that made it; `None` where none is known to have.
    #[must_use]
    pub const fn made_by(&self) -> Option<usize> {
        match self {
            Self::MadeBy { change, .. } => Some(*change),
            Self::MayBe { .. } | Self::None { .. } => None,
        }
    }
}

/// Why a change only may have made something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Possible {
    /// It wrote all of what this is part of: the log does not say which part it changed.
    Whole,
    /// It changed something beside, without which this decides.
    Beside,
    /// It was long before the first failure.
    LongBefore,
}

/// Why the log has no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoEntry {
    /// It lies inside a machine; the platform logs nothing of that.
    InsideMachine,
    /// It was learned from elsewhere, as BGP routes are.
    Learned,
    /// It is no resource that anybody could change.
    NoResource,
    /// Nothing that was read of the log touches it: it may be older than what was read.
    Untouched,
    /// The log that was read is not whole.
    Cut,
    /// What made it, by its place in the log, came after the first failure: there is an entry, and none that explains how it began.
    Later(usize),
}

/// Why a change is not blamed. Of several reasons the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unconnected {
    /// It failed: it changed nothing.
    Failed,
    /// Somebody called it off.
    Canceled,
    /// Its end is not known.
    Unfinished,
    /// It began after the first failure.
    AfterFailure,
    /// It had ended when everything still worked.
    BeforeLastGood,
    /// A later change of the same object took its place.
    Replaced,
    /// It cannot have made this: what was deleted stands there, what was started does not stand still.
    CannotCause,
    /// It touched something else of the same resource.
    Beside,
    /// It ran something inside the machine; what that did is not in the log.
    Script,
    /// It touched something else.
    OtherResource,
    /// It only looked.
    OnlyRead,
}

/// What became of all changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributed {
    /// What the log says, one for each subject.
    pub origins: Vec<Origin>,
    /// The changes that no subject is blamed on, by their places in the log, and why.
    pub unconnected: Vec<(usize, Unconnected)>,
}

impl Log {
    /// Says which change made what is at fault. Nothing is blamed that failed, came later, or touched something else.
    #[must_use]
    pub fn attribute(&self, subjects: &[Subject], question: &Question) -> Attributed {
        let mut reasons: BTreeMap<usize, Unconnected> = BTreeMap::new();
        let mut blamed: Vec<usize> = Vec::new();
        let mut origins = Vec::new();
        for subject in subjects {
            let origin = self.origin(subject, question, &mut reasons);
            if let Origin::MadeBy { change, .. } | Origin::MayBe { change, .. } = origin {
                blamed.push(change);
            }
            origins.push(origin);
        }
        let rest = (0..self.changes.len()).filter(|at| !blamed.contains(at));
        let unconnected =
            rest.map(|at| (at, reasons.get(&at).copied().unwrap_or(Unconnected::OtherResource))).collect();
        Attributed { origins, unconnected }
    }

    fn origin(
        &self,
        subject: &Subject,
        question: &Question,
        reasons: &mut BTreeMap<usize, Unconnected>,
    ) -> Origin {
        let mut found: Vec<(bool, Relation, usize)> = Vec::new();
        let mut scripts = Vec::new();
        let mut later = None;
        for (at, change) in self.changes.iter().enumerate() {
            match judge(subject, change, question) {
                Ok((is_certain, relation)) => found.push((is_certain, relation, at)),
                Err(why) => {
                    if why == Unconnected::Script {
                        scripts.push(at);
                    }
                    let made = |relation| subject.is_made_by(change, relation) == Some(true);
                    if why == Unconnected::AfterFailure
                        && subject.relation(&change.resource).is_some_and(made)
                    {
                        later.get_or_insert(at);
                    }
                    reasons.entry(at).and_modify(|known| *known = (*known).min(why)).or_insert(why);
                }
            }
        }
        // The latest of those that touched the object itself; they stand in this order in the log.
        found.sort_by_key(|(is_certain, relation, at)| (!is_certain, *relation, *at));
        let Some(&(is_certain, relation, at)) = found.first() else {
            let unlogged = if self.is_cut { NoEntry::Cut } else { NoEntry::Untouched };
            let why = subject.absent().or(later.map(NoEntry::Later)).unwrap_or(unlogged);
            return Origin::None { why, scripts };
        };
        for (_, _, other) in found.iter().skip(1) {
            reasons.entry(*other).or_insert(Unconnected::Replaced);
        }
        let began = self.changes.get(at).map(|change| change.at);
        let lead = question.first_failure.zip(began).map(|(failure, began)| failure.since(began));
        let is_long = lead.is_some_and(|lead| lead > NEAR);
        let why = match (is_long, is_certain, relation) {
            (true, _, _) => Possible::LongBefore,
            (false, true, _) => return Origin::MadeBy { change: at, lead },
            (false, false, Relation::Whole) => Possible::Whole,
            (false, false, Relation::Beside | Relation::Itself | Relation::Part | Relation::Machine) => {
                Possible::Beside
            }
        };
        Origin::MayBe { change: at, lead, why }
    }
}

/// Says whether a change can have made a subject what it is, or why not.
fn judge(subject: &Subject, change: &Change, question: &Question) -> Result<(bool, Relation), Unconnected> {
    if !change.action.is_change() {
        return Err(Unconnected::OnlyRead);
    }
    let relation = subject.relation(&change.resource).ok_or(Unconnected::OtherResource)?;
    match change.status {
        Status::Succeeded => {}
        Status::Failed => return Err(Unconnected::Failed),
        Status::Canceled => return Err(Unconnected::Canceled),
        Status::Unfinished => return Err(Unconnected::Unfinished),
    }
    // A script that runs at that very moment is the investigation's own.
    let is_later = |failure: Timestamp| match relation {
        Relation::Machine => change.at >= failure,
        Relation::Itself | Relation::Whole | Relation::Part | Relation::Beside => change.at > failure,
    };
    if question.first_failure.is_some_and(is_later) {
        return Err(Unconnected::AfterFailure);
    }
    if question.last_good.is_some_and(|good| change.ended.unwrap_or(change.at) < good) {
        return Err(Unconnected::BeforeLastGood);
    }
    match subject.is_made_by(change, relation) {
        Some(is_certain) => Ok((is_certain, relation)),
        None => Err(match relation {
            Relation::Machine => Unconnected::Script,
            Relation::Beside | Relation::Part => Unconnected::Beside,
            Relation::Itself | Relation::Whole => Unconnected::CannotCause,
        }),
    }
}
