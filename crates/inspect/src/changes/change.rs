//! Changes: the events of one operation, put together.

use std::collections::BTreeMap;
use std::fmt;

use ghost_base::Timestamp;

use super::event::{Event, Read, read};
use super::resource::Resource;
use super::rows;
use crate::net::{DocumentError, Warning, Warnings};

/// What an operation does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// It made something new.
    Created,
    /// It wrote what was there.
    Updated,
    /// It wrote; the log does not say whether it was there.
    Written,
    /// It took something away.
    Deleted,
    /// It did something else, by its name in small letters: `deallocate`, `runcommand`.
    Invoked(String),
}

/// Verbs that change how something is or works; others, such as `effectiveroutetable`, look.
const CHANGING: &[&str] = &[
    "deallocate",
    "failover",
    "hibernate",
    "move",
    "poweroff",
    "powerdown",
    "redeploy",
    "reimage",
    "reset",
    "restart",
    "runcommand",
    "start",
    "stop",
    "swap",
    "sync",
];

impl Action {
    /// Tells whether it can have changed something.
    #[must_use]
    pub fn is_change(&self) -> bool {
        match self {
            Self::Created | Self::Updated | Self::Written | Self::Deleted => true,
            Self::Invoked(verb) => CHANGING.contains(&verb.as_str()),
        }
    }

    /// Returns it as people say it: `was created`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Created => "was created".to_owned(),
            Self::Updated => "was changed".to_owned(),
            Self::Written => "was created or changed".to_owned(),
            Self::Deleted => "was deleted".to_owned(),
            Self::Invoked(verb) => match verb.as_str() {
                "deallocate" => "was deallocated".to_owned(),
                "poweroff" | "stop" => "was stopped".to_owned(),
                "start" => "was started".to_owned(),
                "restart" => "was restarted".to_owned(),
                "redeploy" => "was redeployed".to_owned(),
                "runcommand" => "had a script run on it".to_owned(),
                _ => format!("had {verb} called on it"),
            },
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Written => "written",
            Self::Deleted => "deleted",
            Self::Invoked(verb) => verb,
        })
    }
}

/// How an operation ended. Of two ends at the same moment the later variant counts: a failure is never taken for a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It began or was accepted, and no end of it is known.
    Unfinished,
    /// It succeeded.
    Succeeded,
    /// Somebody called it off.
    Canceled,
    /// It failed.
    Failed,
}

impl Status {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
            Self::Failed => "failed",
        }
    }
}

/// What kind of caller it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallerKind {
    /// A person, by the name that they sign in with.
    Person,
    /// A service principal or a managed identity.
    Application,
    /// The log does not say.
    Unknown,
}

impl CallerKind {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Application => "application",
            Self::Unknown => "unknown",
        }
    }
}

/// Who changed something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    /// What the log calls them; empty where it does not say.
    pub id: String,
    /// What kind of caller that is.
    pub kind: CallerKind,
    /// The name that their token claimed.
    pub name: Option<String>,
    /// The application that they used, or are.
    pub application: Option<String>,
}

impl Caller {
    /// Returns what to call them.
    #[must_use]
    pub fn words(&self) -> String {
        match (&self.name, self.kind) {
            (_, CallerKind::Person) => self.id.clone(),
            (Some(name), CallerKind::Application | CallerKind::Unknown) => name.clone(),
            (None, CallerKind::Application) => format!("application {}", self.id),
            (None, CallerKind::Unknown) if self.id.is_empty() => "an unknown caller".to_owned(),
            (None, CallerKind::Unknown) => self.id.clone(),
        }
    }

    /// Tells whether somebody means them: by a part of their name, or by an id.
    #[must_use]
    pub fn is(&self, wanted: &str) -> bool {
        let wanted = wanted.trim().to_lowercase();
        let holds = |text: &String| text.to_lowercase().contains(&wanted);
        !wanted.is_empty() && (holds(&self.id) || self.name.iter().chain(&self.application).any(holds))
    }
}

/// One operation on one resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// When it began.
    pub at: Timestamp,
    /// When it ended, where it did.
    pub ended: Option<Timestamp>,
    /// The resource.
    pub resource: Resource,
    /// What was done to it.
    pub action: Action,
    /// How that ended.
    pub status: Status,
    /// Who did it.
    pub who: Caller,
    /// The operation, as the log calls it.
    pub operation: String,
    /// When the log had it, where that is known.
    pub seen_at: Option<Timestamp>,
    /// What joins it with other logs.
    pub correlation: Option<String>,
    /// How many events of the log say so.
    pub events: usize,
}

/// What an activity log says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// The changes, the latest first.
    pub changes: Vec<Change>,
    /// How many events there were.
    pub events: usize,
    /// How many of them are about something that nobody changed: alerts, health, policies that looked.
    pub others: usize,
    /// What could not be read.
    pub warnings: Vec<Warning>,
    /// Whether it is cut off, or one page of several.
    pub is_cut: bool,
}

impl Log {
    /// Reads what `az monitor activity-log list -o json` prints.
    ///
    /// # Errors
    /// Fails where the text is no log at all, or the answer of a call that failed.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let found = rows::read(text)?;
        let mut warnings = Warnings::default();
        found.warnings.iter().for_each(|warning| warnings.push(|| warning.clone()));
        let (mut events, mut others) = (Vec::new(), 0);
        for (row, value) in found.rows.iter().enumerate() {
            match read(value) {
                Read::Event(event) => events.push(*event),
                Read::Other => others += 1,
                Read::Odd(what) => warnings.push(|| Warning::at(row, "", what)),
            }
        }
        let read = found.rows.len();
        Ok(Self {
            changes: joined(events),
            events: read,
            others,
            warnings: warnings.into_vec(),
            is_cut: found.is_cut,
        })
    }
}

/// Puts the events of each operation together, the latest first.
fn joined(mut events: Vec<Event>) -> Vec<Change> {
    // Rows come in any order, and some come twice.
    events.sort();
    events.dedup();
    let mut groups: BTreeMap<Vec<String>, Vec<Event>> = BTreeMap::new();
    for (at, event) in events.into_iter().enumerate() {
        let small = |text: &str| text.to_ascii_lowercase();
        let key = match (&event.correlation, &event.operation_id) {
            // Nothing says to which operation it belongs: it stands alone.
            (None, None) => vec![at.to_string()],
            (correlation, operation) => vec![
                small(correlation.as_deref().unwrap_or_default()),
                small(operation.as_deref().unwrap_or_default()),
                small(&event.operation),
                small(&event.resource.id),
            ],
        };
        groups.entry(key).or_default().push(event);
    }
    let mut changes: Vec<Change> = groups.into_values().filter_map(one).collect();
    changes.sort();
    changes.reverse();
    changes
}

/// Puts the events of one operation together, the earliest of which stands first.
fn one(mut events: Vec<Event>) -> Option<Change> {
    // The same event may stand there twice, in other words.
    let mut known = std::collections::BTreeSet::new();
    events.retain(|event| event.id.as_ref().is_none_or(|id| known.insert(id.to_ascii_lowercase())));
    let first = events.first()?.clone();
    let end = events
        .iter()
        .filter(|event| event.status != Status::Unfinished)
        .max_by_key(|event| (event.at, event.status));
    // The answer that ends an operation says most exactly what it did.
    let action = end.map(|event| &event.action).into_iter().chain(events.iter().map(|event| &event.action));
    let action = action.min_by_key(|action| (**action == Action::Written, *action)).cloned()?;
    let who = events.iter().find(|event| !event.caller.id.is_empty()).unwrap_or(&first).caller.clone();
    Some(Change {
        at: first.at,
        ended: end.map(|event| event.at),
        action,
        status: end.map_or(Status::Unfinished, |event| event.status),
        who,
        operation: first.operation.clone(),
        seen_at: end.and_then(|event| event.seen_at).or(first.seen_at),
        correlation: first.correlation.clone(),
        events: events.len(),
        resource: first.resource,
    })
}
