//! The life of one approval. Pure: both backends move records through these functions, so that they cannot disagree.

use crate::{Approval, ApprovalRecord, ApprovalState, Choice, Consumed, Lease, Notice, Outcome, Vote};
use ghost_base::Timestamp;

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
