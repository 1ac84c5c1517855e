//! The ports: what a store does, whatever it is made of.

use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Consumed, DurabilityGap, Opened, Outcome,
    StoreError, Vote,
};

/// Append-only lists of events, one a session.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Appends events and takes the first `drained` items out of the inbox, all in one step; returns the new length.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] where the lease ended, [`StoreError::LengthMismatch`] where the length is another; nothing is written then.
    /// Under a living lease the other length can only come from an append of the same owner whose answer got lost; on a cluster
    /// the client may have repeated it by itself.
    async fn append(
        &self,
        lease: &Lease,
        expected: u64,
        events: &[String],
        drained: u64,
    ) -> Result<u64, StoreError>;

    /// Returns the events from number `from` on, counted from zero.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn read(&self, session: &SessionId, from: u64) -> Result<Vec<String>, StoreError>;

    /// Returns how many events there are; zero for an unknown session.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn length(&self, session: &SessionId) -> Result<u64, StoreError>;

    /// Returns up to `limit` session names in order, those after `after`.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn list(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionId>, StoreError>;

    /// Removes everything that a session holds, and fences its owner; its epoch keeps growing. What is to be kept takes the
    /// place of the events in the same step: without a line the session is gone, with lines it is still listed and read, has
    /// no moment to be erased at, and is no work until something new arrives.
    ///
    /// # Errors
    /// Fails where the store cannot be reached; asking again is safe.
    async fn erase(&self, session: &SessionId, keep: &[String]) -> Result<(), StoreError>;

    /// Sets when a session may be erased; a later call replaces the moment.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn expire(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError>;

    /// Erases the sessions whose moment has come, except those that have an owner, and returns their names.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn erase_expired(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError>;
}

/// Whether a delivery was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// It is in the inbox now.
    New,
    /// It was delivered before under the same key; nothing changed.
    Seen,
}

/// What arrives for a session while somebody else, or nobody, works on it.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Puts an item into the inbox, once per key, and makes the session come up for work.
    ///
    /// # Errors
    /// Fails where the store cannot be reached; the sender may then repeat it.
    async fn deliver(&self, session: &SessionId, key: &str, item: &str) -> Result<Delivered, StoreError>;

    /// Returns what waits, oldest first. An append takes it out.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn inbox(&self, session: &SessionId) -> Result<Vec<Item>, StoreError>;
}

/// Who may write a session.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes a session for `ttl`, unless it has a living owner. The epoch is larger than any before.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn acquire(
        &self,
        session: &SessionId,
        owner: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, StoreError>;

    /// Lets the lease last its `ttl` from now on.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] where it ended already: the session has to be acquired and read again.
    async fn renew(&self, lease: &Lease) -> Result<Lease, StoreError>;

    /// Gives the session back: its work is done until something arrives.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] where somebody else took it over.
    async fn release(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Gives the session back: its work is done until something arrives, or until `pause` is over by the store's clock. Then it comes
    /// up by itself, once. Whoever acquires it before replaces that.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] where somebody else took it over.
    async fn release_for(&self, lease: &Lease, pause: Duration) -> Result<(), StoreError>;

    /// Gives the session back with work left: it comes up at once, for whoever asks next.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] where somebody else took it over.
    async fn hand_over(&self, lease: &Lease) -> Result<(), StoreError>;
}

/// Questions to humans that are answered once.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Records a question. One of the same name stays as it is and is returned.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn open(&self, record: &ApprovalRecord) -> Result<Opened, StoreError>;

    /// Counts a vote. Of all votes for one approval, exactly one gets [`Outcome::Decided`].
    ///
    /// # Errors
    /// Fails where the store cannot be reached; the same vote may then be repeated.
    async fn vote(&self, id: &ApprovalId, vote: &Vote) -> Result<Outcome, StoreError>;

    /// Returns an approval, and expires it if its time is over.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn find(&self, id: &ApprovalId, now: Timestamp) -> Result<Option<Approval>, StoreError>;

    /// Returns what is still waiting for an answer, of one session or of all.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn pending(&self, session: Option<&SessionId>, now: Timestamp)
    -> Result<Vec<Approval>, StoreError>;

    /// Lets all approvals run out whose time is over, and returns those that did just now.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn sweep(&self, now: Timestamp) -> Result<Vec<ApprovalId>, StoreError>;

    /// Uses an approved approval up, once, for the owner of its session.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] where the lease ended.
    async fn consume(&self, id: &ApprovalId, lease: &Lease) -> Result<Consumed, StoreError>;
}

/// How much there is to do, for all owners together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Sessions that wait for an owner that has room.
    pub queued: u64,
    /// Questions that wait for a human.
    pub asked: u64,
}

/// The line of sessions that want an owner.
#[async_trait]
pub trait Dispatch: Send + Sync {
    /// Waits up to `wait` for a session without a living owner that has something in its inbox, or whose owner went away
    /// without releasing it. It is not handed out again for a moment, so that `owner` can take the lease.
    ///
    /// An owner counts as living until its lease ends. A dead owner's session is taken over at once on the embedded store:
    /// whoever can open the file knows that its last process is gone.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn next_work(&self, owner: &str, wait: Duration) -> Result<Option<SessionId>, StoreError>;

    /// Returns how much there is to do, roughly: the index is a hint.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn backlog(&self) -> Result<Backlog, StoreError>;
}

/// What all owners see besides sessions: a few flags, a journal, and a line about each session for lists of them.
///
/// It decides nothing about a session. Where it and a ledger differ, the ledger is right.
#[async_trait]
pub trait SharedState: Send + Sync {
    /// Returns a flag.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn flag(&self, name: &'static str) -> Result<Option<String>, StoreError>;

    /// Sets a flag, or takes it down.
    ///
    /// # Errors
    /// Fails where the store cannot be reached; asking again is safe.
    async fn set_flag(&self, name: &'static str, value: Option<&str>) -> Result<(), StoreError>;

    /// Puts a line about a session up, in place of the one before. It is gone when the session is erased.
    ///
    /// # Errors
    /// Fails where the store cannot be reached; asking again is safe.
    async fn post(&self, session: &SessionId, line: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Writes a line behind the `expected` lines of the one journal that all owners share. It is never erased.
    ///
    /// # Errors
    /// [`StoreError::LengthMismatch`] where there are more or fewer; nothing is written then.
    async fn note(&self, expected: u64, line: &str) -> Result<(), StoreError>;

    /// Returns the last lines of the journal, up to `limit`, oldest first, and how many there are in all.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn notes(&self, limit: usize) -> Result<(u64, Vec<String>), StoreError>;

    /// Returns up to `limit` lines, the latest first.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn posted(&self, limit: usize) -> Result<Vec<(SessionId, String)>, StoreError>;

    /// Returns under which of its settings the store may lose what it has acknowledged.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn durability_gaps(&self) -> Result<Vec<DurabilityGap>, StoreError> {
        Ok(Vec::new())
    }
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// The name stands for what the caller said.
    Set,
    /// It stands for something else, or for nothing; the caller did not know that.
    Held(Option<String>),
}

/// Short names that stand for something, each changed by one caller at a time: which session has a group of alerts, for instance.
///
/// A name is forgotten when its time is over.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Returns what a name stands for.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    async fn claimed(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Lets a name stand for `value` during `ttl`, if it stands for `expected` until now. Of all who expect the same, one sets it.
    ///
    /// # Errors
    /// Fails where the store cannot be reached; whoever repeats it and finds their own value was the one.
    async fn claim(
        &self,
        name: &str,
        expected: Option<&str>,
        value: &str,
        ttl: Duration,
    ) -> Result<Claimed, StoreError>;
}

/// All ports at once.
pub trait Store: Ledger + Inbox + Leases + Approvals + Dispatch + SharedState + Claims {}

impl<T: Ledger + Inbox + Leases + Approvals + Dispatch + SharedState + Claims> Store for T {}

/// One thing that waits for a session's owner.
///
/// The two kinds are apart in the store itself, so that no delivered text can pass for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A line that was delivered.
    Delivered(String),
    /// An approval was decided or ran out.
    Closed(Notice),
}

/// The news that an approval is no longer pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub approval: ApprovalId,
    /// How it ended.
    pub state: ApprovalState,
}

const DELIVERED: char = 't';
const CLOSED: char = 'a';

pub(super) fn delivered_item(line: &str) -> String {
    format!("{DELIVERED}{line}")
}

pub(super) fn closed_item(notice: &Notice) -> Result<String, StoreError> {
    let text = serde_json::to_string(notice).map_err(|error| StoreError::corrupt(error.to_string()))?;
    Ok(format!("{CLOSED}{text}"))
}

pub(super) fn parse_item(text: &str) -> Result<Item, StoreError> {
    if let Some(line) = text.strip_prefix(DELIVERED) {
        return Ok(Item::Delivered(line.to_owned()));
    }
    let notice = text.strip_prefix(CLOSED).and_then(|text| serde_json::from_str(text).ok());
    notice.map(Item::Closed).ok_or_else(|| StoreError::corrupt("an inbox item of unknown kind"))
}

/// The right of one owner to write one session. Only a store makes one; it proves nothing by itself, each write checks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub(super) session: SessionId,
    pub(super) owner: String,
    pub(super) epoch: u64,
    pub(super) ttl: Duration,
    pub(super) until: Timestamp,
    pub(super) orphans: bool,
}

impl Lease {
    /// Returns the session that may be written.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns who may write it.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns the fencing number: a later owner has a larger one.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Tells whether the owner before went away without giving the session back. It says nothing where that was the same one.
    #[must_use]
    pub fn is_orphans(&self) -> bool {
        self.orphans
    }

    /// Returns when the lease ended if it was never renewed, by the store's clock.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivered_line_cannot_pass_for_a_decision() {
        let notice = Notice { approval: "a1".parse().unwrap(), state: ApprovalState::Pending };
        let forged = closed_item(&notice).unwrap();
        assert_eq!(parse_item(&delivered_item(&forged)).unwrap(), Item::Delivered(forged.clone()));
        assert_eq!(parse_item(&forged).unwrap(), Item::Closed(notice));
    }

    #[test]
    fn an_item_of_a_later_kind_is_refused() {
        assert!(matches!(parse_item("zwhat"), Err(StoreError::Corrupt { .. })));
        assert!(matches!(parse_item(""), Err(StoreError::Corrupt { .. })));
    }
}
