//! What a message shows of a session that is not in its events.

use crate::bot::Approvers;
use crate::bot::show::People;
use ghost_base::Timestamp;
use ghost_investigate::event::Reply;

/// What a message shows of a session that is not in its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderContext {
    pub people: People,
    /// Whether every new command is held back.
    pub frozen: Option<Frozen>,
    /// A vote on the question that is stored and not in the events yet.
    pub deciding: Option<Deciding>,
    /// Where the card of the open question stands.
    pub card: Option<String>,
    /// Where the report stands, or the thread.
    pub thread: Option<String>,
    /// As whom what is approved will run.
    pub acts_as: Option<String>,
    /// Whether whoever changed a command may be the only one to approve it.
    pub modifier: bool,
    /// Who may decide in the session's channel, where that is known.
    pub deciders: Option<Approvers>,
    /// Whether the workspace shows plans with task cards.
    pub plan: bool,
    /// What is wrong around the session, in our own words: the store is away, for instance.
    pub trouble: Option<String>,
}

/// Who froze everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// Who, as it was recorded.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Why, in their words; may be empty.
    pub reason: String,
}

/// A vote that is stored and not an event yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deciding {
    /// Who, as it was recorded.
    pub who: String,
    pub answer: Reply,
}
