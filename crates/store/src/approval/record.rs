//! What an approval is made of, as it is stored and as it is answered.

use std::fmt;
use std::str::FromStr;

use ghost_base::{IdError, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Lease, Notice};

/// Names one approval, opaque to whoever carries it: 1 to 64 letters, digits, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApprovalId(String);

impl ApprovalId {
    /// Returns the identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ApprovalId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        // The alphabet is that of sessions: safe in a key and in a button.
        text.parse::<SessionId>().map(|_| Self(text.to_owned()))
    }
}

impl TryFrom<String> for ApprovalId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<ApprovalId> for String {
    fn from(id: ApprovalId) -> Self {
        id.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What is asked. It never changes after it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    pub id: ApprovalId,
    /// Whose inbox learns of the decision.
    #[serde(with = "session_text")]
    pub session: SessionId,
    /// The digest of what would happen.
    pub digest: String,
    /// When it was asked.
    #[serde(with = "moment")]
    pub opened_at: Timestamp,
    /// From this moment on the answer is no.
    #[serde(with = "moment")]
    pub expires_at: Timestamp,
    /// What the asker wants to find again; the store does not read it.
    pub body: String,
    /// How many different people must approve.
    pub votes_needed: u32,
}

/// What a reviewer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Yes, as far as this person goes.
    Approve,
    /// No. One is enough.
    Deny,
}

/// One reviewer's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    pub reviewer: String,
    /// Yes or no.
    pub choice: Choice,
    /// A reason or a changed command; the store does not read it.
    pub note: String,
    /// When.
    #[serde(with = "moment")]
    pub at: Timestamp,
    /// Names the click, so that its repetition is recognized.
    pub key: String,
}

/// Where an approval stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ApprovalState {
    /// Waiting for votes.
    Pending,
    /// The vote that ended it.
    Decided(Vote),
    /// Nobody answered in time.
    Expired,
    /// It was approved, and used up by the owner with this epoch.
    Consumed {
        /// The fencing number of the owner that used it.
        epoch: u64,
    },
}

/// A question, the votes so far and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// What is asked.
    pub record: ApprovalRecord,
    /// All votes that counted, the deciding one included.
    pub votes: Vec<Vote>,
    /// Where it stands.
    pub state: ApprovalState,
}

/// What became of a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// This vote is the decision.
    Decided(Choice),
    /// It counts, and more are needed.
    Voted {
        /// How many approve.
        so_far: u32,
    },
    /// The same reviewer approved before; nothing changed.
    VotedBefore {
        /// How many approve.
        so_far: u32,
    },
    /// Another vote was the decision.
    AlreadyDecided {
        /// The deciding vote.
        by: Vote,
        /// Whether it is this very click, whose answer got lost.
        repeated: bool,
    },
    /// It came too late.
    Expired,
    /// There is no such approval.
    Unknown,
}

/// Whether a question was new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// It waits now.
    New,
    /// It was opened before, perhaps with another content: see what is there.
    Before(Box<Approval>),
}

/// Whether an approval may be acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consumed {
    /// Yes: act once, on exactly this record.
    Now(Box<Approval>),
    /// No: it is not approved, or was used before.
    No(ApprovalState),
    /// There is no such approval in this session.
    Unknown,
}

mod session_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use ghost_base::SessionId;

    pub(super) fn serialize<S: Serializer>(id: &SessionId, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(id.as_str())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<SessionId, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Moments as milliseconds.
mod moment {
    use serde::{Deserialize, Deserializer, Serializer};

    use ghost_base::Timestamp;

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(at.as_millis())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(from).map(Timestamp::from_millis)
    }
}

impl Approval {
    pub(crate) fn new(record: ApprovalRecord) -> Self {
        Self { record, votes: Vec::new(), state: ApprovalState::Pending }
    }

    pub(crate) fn notice(&self) -> Notice {
        Notice { approval: self.record.id.clone(), state: self.state.clone() }
    }

    fn approvals(&self) -> u32 {
        u32::try_from(self.votes.iter().filter(|vote| vote.choice == Choice::Approve).count())
            .unwrap_or(u32::MAX)
    }

    /// Lets it run out; nothing where it is not pending or has time left.
    pub(crate) fn expire(&self, now: Timestamp) -> Option<Self> {
        let over = self.state == ApprovalState::Pending && self.record.expires_at <= now;
        over.then(|| Self { state: ApprovalState::Expired, ..self.clone() })
    }

    /// Counts a vote: what to store, if anything changes, and what to answer.
    pub(crate) fn vote(&self, vote: &Vote) -> (Option<Self>, Outcome) {
        if let Some(expired) = self.expire(vote.at) {
            return (Some(expired), Outcome::Expired);
        }
        match &self.state {
            ApprovalState::Pending => self.count(vote),
            ApprovalState::Expired => (None, Outcome::Expired),
            ApprovalState::Decided(_) | ApprovalState::Consumed { .. } => match self.votes.last() {
                Some(by) => {
                    let repeated = by.key == vote.key && by.reviewer == vote.reviewer;
                    (None, Outcome::AlreadyDecided { by: by.clone(), repeated })
                }
                None => (None, Outcome::Unknown),
            },
        }
    }

    fn count(&self, vote: &Vote) -> (Option<Self>, Outcome) {
        let again = self.votes.iter().any(|before| before.reviewer == vote.reviewer);
        // Whoever approved may still say no; a second yes of the same person is one yes.
        if again && vote.choice == Choice::Approve {
            return (None, Outcome::VotedBefore { so_far: self.approvals() });
        }
        let mut next = self.clone();
        next.votes.push(vote.clone());
        let so_far = next.approvals();
        if vote.choice == Choice::Approve && so_far < self.record.votes_needed.max(1) {
            return (Some(next), Outcome::Voted { so_far });
        }
        next.state = ApprovalState::Decided(vote.clone());
        (Some(next), Outcome::Decided(vote.choice))
    }

    /// Uses it up: what to store, if anything changes, and what to answer.
    pub(crate) fn consume(&self, lease: &Lease) -> (Option<Self>, Consumed) {
        if self.record.session != lease.session {
            return (None, Consumed::Unknown);
        }
        match &self.state {
            ApprovalState::Decided(vote) if vote.choice == Choice::Approve => {
                let next = Self { state: ApprovalState::Consumed { epoch: lease.epoch }, ..self.clone() };
                (Some(next), Consumed::Now(Box::new(self.clone())))
            }
            state @ (ApprovalState::Pending
            | ApprovalState::Decided(_)
            | ApprovalState::Expired
            | ApprovalState::Consumed { .. }) => (None, Consumed::No(state.clone())),
        }
    }
}
