//! A human's answer on its way into the store.

use ghost_base::Timestamp;
use ghost_investigate::event::Reply;
use ghost_investigate::state::{Approval, State};
use ghost_investigate::{ApprovalRefused, SelfApproval, may_approve, may_approve_modified};
use ghost_store::{ApprovalId, Choice, Outcome, Store, StoreError, Vote};

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cast {
    /// The question.
    pub approval: String,
    /// Who answers.
    pub who: String,
    /// What.
    pub answer: Reply,
    /// Names the click, so that its repetition is recognized.
    pub key: String,
    /// When.
    pub at: Timestamp,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Voted {
    /// The store's word on it.
    Counted(Outcome),
    /// Whoever answered may not, and why.
    Refused(String),
    /// There is no such question.
    Unknown,
}

/// Checks who answers and counts the answer.
///
/// # Errors
/// Fails where the store cannot be reached; the same answer may then be given again.
pub async fn cast(
    store: &dyn Store,
    state: &State,
    rule: SelfApproval,
    cast: &Cast,
) -> Result<Voted, StoreError> {
    let (Some(approval), Ok(id)) = (state.approvals.get(&cast.approval), cast.approval.parse::<ApprovalId>())
    else {
        return Ok(Voted::Unknown);
    };
    if let Err(why) = allowed(state, approval, rule, cast) {
        return Ok(Voted::Refused(why.to_string()));
    }
    let choice = match &cast.answer {
        Reply::Approve => Choice::Approve,
        // A modification ends the question as a denial does: what was shown does not run.
        Reply::Deny { .. } | Reply::Modify { .. } => Choice::Deny,
    };
    let note = serde_json::to_string(&cast.answer).unwrap_or_default();
    let vote = Vote { reviewer: cast.who.clone(), choice, note, at: cast.at, key: cast.key.clone() };
    store.vote(&id, &vote).await.map(Voted::Counted)
}

fn allowed(
    state: &State,
    approval: &Approval,
    rule: SelfApproval,
    cast: &Cast,
) -> Result<(), ApprovalRefused> {
    let asked = &approval.requested;
    match &cast.answer {
        Reply::Deny { .. } | Reply::Modify { .. } => Ok(()),
        Reply::Approve => {
            may_approve(rule.requester, &state.opened.requester, &cast.who, asked.impact)?;
            let modifier = state.modified(asked).map(|(who, _)| who);
            may_approve_modified(rule, modifier, &cast.who, asked.votes_needed)
        }
    }
}

/// Reads the answer that a deciding vote carries. What cannot be read is a no.
pub(super) fn reply(vote: &Vote) -> Reply {
    match (vote.choice, serde_json::from_str::<Reply>(&vote.note)) {
        (Choice::Approve, Ok(Reply::Approve)) => Reply::Approve,
        (Choice::Deny, Ok(reply @ (Reply::Deny { .. } | Reply::Modify { .. }))) => reply,
        (Choice::Deny, Ok(Reply::Approve) | Err(_)) => Reply::Deny { reason: vote.note.clone() },
        (Choice::Approve, _) => Reply::Deny { reason: "the answer could not be read".to_owned() },
    }
}
