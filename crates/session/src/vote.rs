//! Votes of people: who may, and counting them in the store.

use serde::{Deserialize, Serialize};

use ghost_base::Timestamp;
use ghost_investigate::event::Reply;
use ghost_investigate::state::{Approval, State};
use ghost_investigate::{ApprovalRefused, SelfApproval, may_approve, may_approve_modified};
use ghost_store::{ApprovalId, Choice, Outcome, Store, StoreError, Vote};

/// A vote that somebody submits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedVote {
    /// The question.
    pub approval: String,
    /// Who answers.
    pub who: String,
    /// The name by which people know them; empty where it was not asked.
    pub name: String,
    pub answer: Reply,
    /// Names the click, so that its repetition is recognized.
    pub key: String,
    /// When.
    pub at: Timestamp,
}

/// The result of a submitted vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoteResult {
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
pub async fn submit_vote(
    store: &dyn Store,
    state: &State,
    rule: SelfApproval,
    submitted: &SubmittedVote,
) -> Result<VoteResult, StoreError> {
    let (Some(approval), Ok(id)) =
        (state.approvals.get(&submitted.approval), submitted.approval.parse::<ApprovalId>())
    else {
        return Ok(VoteResult::Unknown);
    };
    if let Err(why) = allowed(state, approval, rule, submitted) {
        return Ok(VoteResult::Refused(why.to_string()));
    }
    let choice = match &submitted.answer {
        Reply::Approve => Choice::Approve,
        // A modification ends the question as a denial does: what was shown does not run.
        Reply::Deny { .. } | Reply::Modify { .. } => Choice::Deny,
    };
    let note = NamedReply { answer: &submitted.answer, name: &submitted.name };
    let note = serde_json::to_string(&note).unwrap_or_default();
    let vote =
        Vote { reviewer: submitted.who.clone(), choice, note, at: submitted.at, key: submitted.key.clone() };
    store.vote(&id, &vote).await.map(VoteResult::Counted)
}

fn allowed(
    state: &State,
    approval: &Approval,
    rule: SelfApproval,
    submitted: &SubmittedVote,
) -> Result<(), ApprovalRefused> {
    let asked = &approval.requested;
    match &submitted.answer {
        Reply::Deny { .. } | Reply::Modify { .. } => Ok(()),
        Reply::Approve => {
            may_approve(rule.requester, &state.opened.requester, &submitted.who, asked.impact)?;
            let modifier = state.modified(asked).map(|(who, _)| who);
            may_approve_modified(rule, modifier, &submitted.who, asked.votes_needed)
        }
    }
}

/// An answer, with the name of whoever gave it beside it.
#[derive(Serialize)]
struct NamedReply<'a> {
    #[serde(flatten)]
    answer: &'a Reply,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
}

#[derive(Deserialize)]
struct ReplyName {
    name: String,
}

/// Reads the name of whoever gave a deciding vote, where it was asked for.
pub(super) fn name_of(vote: &Vote) -> Option<String> {
    serde_json::from_str::<ReplyName>(&vote.note).ok().map(|reply| reply.name)
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
