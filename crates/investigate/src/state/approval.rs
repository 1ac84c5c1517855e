//! A question to humans, as the ledger knows it.

use crate::event::{ApprovalRequested, Reply};
use crate::state::State;
use ghost_base::Timestamp;

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

impl State {
    /// Returns who changed a command into the one that a question is about, and what it was before; nothing where nobody did.
    #[must_use]
    pub fn modified(&self, asked: &ApprovalRequested) -> Option<(&str, &str)> {
        let before = asked.round.checked_sub(1)?;
        let round = self.step(asked.step)?.rounds.iter().find(|round| round.classified.round == before)?;
        let who = round.approvals.iter().rev().find_map(|name| {
            match self.approvals.get(name)?.ending.as_ref()? {
                Ending::Decided { answer: Reply::Modify { .. }, who, .. } => Some(who.as_str()),
                Ending::Decided { .. } | Ending::Expired { .. } => None,
            }
        });
        Some((who?, &round.classified.command))
    }
}
