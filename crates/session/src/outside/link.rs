//! How an agent's side reaches the bot.

use std::time::Duration;

use async_trait::async_trait;

use ghost_base::{Digest, SessionId};
use ghost_investigate::event::OutsideRequest;
use ghost_investigate::outside::Standing;

/// A longer text is no command that a human could read: it is refused.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// A longer name of a machine, a folder or a rule is a mistake.
const MAX_NAME_BYTES: usize = 4 << 10;

/// Why nobody could be asked. The answer is no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The bot or the store does not answer; it may answer later.
    #[error("the bot cannot be reached: {0}")]
    Unreachable(String),
    /// It answers, and does not take it.
    #[error("the bot refuses it: {0}")]
    Refused(String),
    /// What is asked is longer than a human could read.
    #[error("{what} is longer than {limit} bytes")]
    TooLong {
        what: &'static str,
        /// How long it may be.
        limit: usize,
    },
}

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingQuery {
    /// How long an answer may be held back; the other end may hold it for less.
    pub wait: Duration,
    /// Whether a yes that nobody used up yet is waited out, too.
    pub beyond_granted: bool,
}

/// The connection of one caller to the bot.
#[async_trait]
pub trait Link: Send + Sync {
    /// Makes a request durable, once for each `nonce`; returns the session that it has.
    ///
    /// # Errors
    /// Fails where it may not be kept; asking again with the same `nonce` is safe.
    async fn ask(&self, nonce: &str, request: &OutsideRequest) -> Result<SessionId, LinkError>;

    /// Says where a request of this caller stands; nothing where it has none of that name.
    ///
    /// # Errors
    /// Fails where that cannot be found out.
    async fn standing(&self, id: &SessionId, query: StandingQuery) -> Result<Option<Standing>, LinkError>;

    /// Wants the consent to be used up by the process with this key. Whether it is says [`Link::standing`].
    ///
    /// # Errors
    /// Fails where that may not be kept; asking again with the same key is safe.
    async fn take(&self, id: &SessionId, key: &str) -> Result<(), LinkError>;

    /// Says whether somebody waits for the answer.
    ///
    /// # Errors
    /// Fails where that may not be kept; nothing hangs on it.
    async fn attend(&self, id: &SessionId, waits: bool) -> Result<(), LinkError>;
}

/// Names the session of a request: the same on every replica, and nobody else's.
#[must_use]
pub fn session_of(caller: &str, nonce: &str) -> SessionId {
    SessionId::drawn(&Digest::of_fields(["outside", caller, nonce]))
}

/// Refuses what no human could read.
///
/// # Errors
/// Names what is too long.
pub(super) fn check(request: &OutsideRequest) -> Result<(), LinkError> {
    let fields = [
        ("the text", &request.text, MAX_TEXT_BYTES),
        ("the reason", &request.reasoning, MAX_TEXT_BYTES),
        ("the name of the agent", &request.agent, MAX_NAME_BYTES),
        ("the name of the machine", &request.machine, MAX_NAME_BYTES),
        ("the folder", &request.folder, MAX_NAME_BYTES),
        ("the name of the conversation", &request.conversation, MAX_NAME_BYTES),
        ("the rule", &request.rule, MAX_NAME_BYTES),
        ("the reason of the rule", &request.reason, MAX_NAME_BYTES),
    ];
    match fields.into_iter().find(|(_, text, limit)| text.len() > *limit) {
        Some((what, _, limit)) => Err(LinkError::TooLong { what, limit }),
        None if request.text.trim().is_empty() => Err(LinkError::Refused("it is empty".to_owned())),
        None => Ok(()),
    }
}
