//! A question to humans, as the ledger knows it.

use crate::agent::event::{ApprovalRequested, Reply};
use crate::base::Timestamp;

/// A question and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// What was asked.
    pub requested: ApprovalRequested,
    /// When.
    pub asked_at: Timestamp,
    /// Who voted.
    pub votes: Vec<Vote>,
    /// How it ended; `None` while it is open.
    pub ending: Option<Ending>,
}

/// One vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// Who.
    pub who: String,
    /// Whether it was a yes.
    pub approves: bool,
    /// When.
    pub at: Timestamp,
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Somebody decided.
    Decided {
        /// What.
        answer: Reply,
        /// Whose vote it was.
        who: String,
        /// When.
        at: Timestamp,
    },
    /// Nobody did in time.
    Expired {
        /// When that was recorded.
        at: Timestamp,
    },
}
