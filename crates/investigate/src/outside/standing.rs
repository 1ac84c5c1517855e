//! Where a request from outside stands, for whoever made it.

use serde::{Deserialize, Serialize};

use crate::outside::offered_until;
use crate::state::{Ending, State};
use ghost_base::Timestamp;

/// Where a request stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// It is kept, and no bot has it in hand yet.
    Queued,
    /// A human is asked.
    Waiting {
        /// Until when, RFC 3339.
        until: String,
        /// How many said yes.
        votes: u32,
        /// How many have to.
        votes_needed: u32,
    },
    /// A human said yes, and nobody used that up yet.
    Granted {
        #[serde(flatten)]
        granted: Granted,
        /// Until when it can be used, RFC 3339.
        until: String,
    },
    /// The consent is used up.
    Taken {
        #[serde(flatten)]
        granted: Granted,
        /// Names the one process that has it.
        key: String,
    },
    /// A human said no.
    Denied {
        by: String,
        /// Why, in their words.
        reason: String,
    },
    /// Nobody answered in time, or nobody used a yes in time.
    Expired {
        /// Which of both.
        reason: String,
    },
    /// It never runs, or nobody can be asked.
    Refused {
        /// Why.
        reason: String,
    },
}

/// What a human said yes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The whole text that may be used, once.
    pub text: String,
    /// Who said yes, as people know them.
    pub by: String,
    /// Whether it is another text than the one that was asked about.
    pub changed: bool,
}

impl Standing {
    /// Tells whether it can still become something else.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            Self::Queued | Self::Waiting { .. } | Self::Granted { .. } => true,
            Self::Taken { .. } | Self::Denied { .. } | Self::Expired { .. } | Self::Refused { .. } => false,
        }
    }
}

/// Says where the request stands that a session was opened for.
#[must_use]
pub fn standing(state: &State) -> Standing {
    if let Some(key) = &state.taken {
        return Standing::Taken { granted: granted(state), key: key.clone() };
    }
    let Some(step) = state.steps.first() else { return Standing::Queued };
    if let Some(done) = &step.done {
        let reason = done.reason.clone();
        return match done.action.as_str() {
            "user_denied" => Standing::Denied { by: decider(state), reason },
            "expired" => Standing::Expired { reason },
            _ => Standing::Refused { reason },
        };
    }
    if let Some(open) = state.open_approval() {
        let votes = open.votes.iter().filter(|vote| vote.approves).count();
        return Standing::Waiting {
            until: open.requested.expires_at.to_string(),
            votes: u32::try_from(votes).unwrap_or(u32::MAX),
            votes_needed: open.requested.votes_needed,
        };
    }
    match offered_until(state) {
        Some(until) if is_offered(state) => {
            Standing::Granted { granted: granted(state), until: until.to_string() }
        }
        Some(_) | None => Standing::Queued,
    }
}

/// Tells whether the last word about it was a yes.
fn is_offered(state: &State) -> bool {
    use crate::event::Reply;
    use crate::state::Phase;
    let Some(step) = state.steps.first() else { return false };
    match &step.phase {
        Phase::Decided { answer: Reply::Approve, .. } => true,
        Phase::Judged => step.round().is_some_and(|round| round.classified.verdict == "SAFE"),
        Phase::Proposed
        | Phase::AwaitingApproval { .. }
        | Phase::Decided { .. }
        | Phase::Expired { .. }
        | Phase::Intended { .. }
        | Phase::Executing { .. }
        | Phase::Unknown
        | Phase::Done => false,
    }
}

fn granted(state: &State) -> Granted {
    let step = state.steps.first();
    Granted {
        text: step.map(|step| step.current().to_owned()).unwrap_or_default(),
        by: decider(state),
        changed: step.is_some_and(|step| step.rounds.len() > 1),
    }
}

/// Returns who decided last, by the name that people know.
fn decider(state: &State) -> String {
    let decided = state.approvals.values().filter_map(|approval| match approval.ending.as_ref()? {
        Ending::Decided { who, at, .. } => Some((*at, who)),
        Ending::Expired { .. } => None,
    });
    let last: Option<(Timestamp, &String)> = decided.max_by_key(|(at, _)| *at);
    last.map(|(_, who)| match state.names.get(who) {
        Some(name) => format!("@{name}"),
        None => who.clone(),
    })
    .unwrap_or_default()
}
