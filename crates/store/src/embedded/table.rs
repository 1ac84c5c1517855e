//! The tables of the file, and what a session's head holds.

use redb::{ReadableTable as _, TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};

use crate::{Lease, StoreError};
use ghost_base::{SessionId, Timestamp};

/// The format of the file.
const FORMAT: u64 = 1;

pub(super) type Text = &'static str;

/// Session → [`Head`].
pub(super) const HEADS: TableDefinition<Text, Text> = TableDefinition::new("sessions");
/// Session and number → event.
pub(super) const EVENTS: TableDefinition<(Text, u64), Text> = TableDefinition::new("events");
/// Session and number → inbox item.
pub(super) const ITEMS: TableDefinition<(Text, u64), Text> = TableDefinition::new("inbox");
/// Session and key → until when the delivery is remembered.
pub(super) const SEEN: TableDefinition<(Text, Text), i64> = TableDefinition::new("seen");
/// Approval → its record.
pub(super) const APPROVALS: TableDefinition<Text, Text> = TableDefinition::new("approvals");
/// Approval → session, of those that wait.
pub(super) const PENDING: TableDefinition<Text, Text> = TableDefinition::new("pending");
/// Session → when to look whether it wants an owner.
pub(super) const WORK: TableDefinition<Text, i64> = TableDefinition::new("work");
/// Flag → its value.
pub(super) const FLAGS: TableDefinition<Text, Text> = TableDefinition::new("flags");
/// Session → the line about it.
pub(super) const LINES: TableDefinition<Text, Text> = TableDefinition::new("lines");
/// Time and session, so that the latest can be read first.
pub(super) const WALL: TableDefinition<(i64, Text), ()> = TableDefinition::new("wall");
/// Number → line of the journal.
pub(super) const JOURNAL: TableDefinition<u64, Text> = TableDefinition::new("journal");
/// Claimed name → until when it stands for what, and for what.
pub(super) const CLAIMS: TableDefinition<Text, (i64, Text)> = TableDefinition::new("claims");
/// Numbers of the file as a whole.
pub(super) const NUMBERS: TableDefinition<Text, u64> = TableDefinition::new("numbers");

/// What is known of a session besides its lines.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Head {
    /// How many events it has.
    pub(super) length: u64,
    /// The number of the first inbox item.
    pub(super) first: u64,
    /// The number of the next inbox item.
    pub(super) next: u64,
    /// The epoch of the last owner.
    pub(super) epoch: u64,
    /// Who had it last.
    pub(super) owner: String,
    /// Until when the owner has it; nothing where it was released.
    pub(super) until: Option<i64>,
    /// When it comes up by itself although nothing arrived.
    pub(super) alarm: Option<i64>,
    /// From when on it may be erased.
    pub(super) expires: Option<i64>,
}

impl Head {
    /// Whether somebody owns it.
    pub(super) fn is_owned(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until > now.as_millis())
    }

    /// Refuses a lease that is not the living one.
    pub(super) fn check(&self, lease: &Lease, now: Timestamp) -> Result<(), StoreError> {
        if self.epoch == lease.epoch && self.is_owned(now) { Ok(()) } else { Err(StoreError::Fenced) }
    }
}

/// Makes the tables, and refuses a file of a later format.
pub(super) fn prepare(write: &WriteTransaction) -> Result<(), StoreError> {
    for table in [HEADS, APPROVALS, PENDING, FLAGS, LINES] {
        write.open_table(table).map_err(broken)?;
    }
    for table in [EVENTS, ITEMS] {
        write.open_table(table).map_err(broken)?;
    }
    write.open_table(SEEN).map_err(broken)?;
    write.open_table(WORK).map_err(broken)?;
    write.open_table(WALL).map_err(broken)?;
    write.open_table(JOURNAL).map_err(broken)?;
    write.open_table(CLAIMS).map_err(broken)?;
    let mut numbers = write.open_table(NUMBERS).map_err(broken)?;
    let found = numbers.get("format").map_err(broken)?.map(|found| found.value());
    match found {
        None => numbers.insert("format", FORMAT).map(drop).map_err(broken),
        Some(found) if found > FORMAT => Err(StoreError::Newer { found, known: FORMAT }),
        Some(_) => Ok(()),
    }
}

/// Reads a session's head; one that was never seen is empty.
pub(super) fn head(write: &WriteTransaction, session: &SessionId) -> Result<Head, StoreError> {
    let heads = write.open_table(HEADS).map_err(broken)?;
    let text = heads.get(session.as_str()).map_err(broken)?;
    text.map_or_else(|| Ok(Head::default()), |text| parse(text.value()))
}

pub(super) fn set_head(write: &WriteTransaction, session: &SessionId, head: &Head) -> Result<(), StoreError> {
    let mut heads = write.open_table(HEADS).map_err(broken)?;
    heads.insert(session.as_str(), print(head)?.as_str()).map(drop).map_err(broken)
}

/// Sets when a session is looked at for work, or that it is not.
pub(super) fn set_work(
    write: &WriteTransaction,
    session: &SessionId,
    at: Option<i64>,
) -> Result<(), StoreError> {
    let mut work = write.open_table(WORK).map_err(broken)?;
    match at {
        Some(at) => work.insert(session.as_str(), at).map(drop).map_err(broken),
        None => work.remove(session.as_str()).map(drop).map_err(broken),
    }
}

/// Puts an item into the inbox and makes the session come up, without taking it from a living owner.
pub(super) fn push(
    write: &WriteTransaction,
    session: &SessionId,
    item: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut head = head(write, session)?;
    let mut items = write.open_table(ITEMS).map_err(broken)?;
    items.insert((session.as_str(), head.next), item).map_err(broken)?;
    head.next += 1;
    set_head(write, session, &head)?;
    let work = write.open_table(WORK).map_err(broken)?;
    let at = work.get(session.as_str()).map_err(broken)?.map(|at| at.value());
    drop(work);
    set_work(write, session, Some(at.unwrap_or(i64::MAX).min(now.as_millis())))
}

pub(super) fn print(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::corrupt(error.to_string()))
}

pub(super) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(error.to_string()))
}

pub(super) fn name(text: &str) -> Result<SessionId, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt("a session's name"))
}

/// Where to look when the file cannot be used.
pub(super) const HINT: &str = "the file of the store cannot be written or read; is the disk full?";

pub(super) fn broken(error: impl Into<redb::Error>) -> StoreError {
    let error = error.into();
    if let redb::Error::Corrupted(what) = error {
        return StoreError::Corrupt { what };
    }
    StoreError::unavailable(error, HINT)
}
