//! The port, and the conversation in words that belong to no provider.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who answers, as far as others have to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Investigator {
    /// `gemini`, `anthropic`, `openai`, `scripted`, `playbook`.
    pub provider: String,
    /// The model's name; empty where there is none.
    pub model: String,
    /// The host that receives the conversation; `None` where nothing leaves the process.
    pub host: Option<String>,
    /// How many tokens fit into its window, the answer included.
    pub window: u32,
}

/// One question: the whole conversation so far.
///
/// The messages begin with [`Message::User`]. Behind a [`Message::Assistant`] with calls stands [`Message::Results`] with
/// one result for each call, in the same order. Two messages of the user may follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// How many turns were answered before, from the ledger.
    pub turn: u32,
    /// The system prompt. It stays the same within a session, so that a provider can cache it.
    pub system: String,
    /// What may be called. It stays the same within a session.
    pub tools: Vec<ToolSpec>,
    pub messages: Vec<Message>,
    /// The most tokens of the answer.
    pub max_output_tokens: u32,
    /// How many of the last turns in a row called nothing that could be done.
    pub fruitless: u32,
    /// How often the same question was called too long before, and shortened.
    pub shortened: u32,
}

impl Ask {
    /// Estimates the tokens of the whole question: four bytes each.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.constant_tokens() + in_tokens(self.messages.iter().map(Message::bytes).sum())
    }

    /// Estimates the tokens of what no shortening leaves out: the prompt, the tools, the incident, and where the session stands.
    #[must_use]
    pub fn fixed_tokens(&self) -> u64 {
        let first = self.messages.first().map_or(0, Message::bytes);
        let last = if self.messages.len() > 1 { self.messages.last().map_or(0, Message::bytes) } else { 0 };
        self.constant_tokens() + in_tokens(first + last)
    }

    /// Tells whether anything can be left out: in a first request nothing can.
    #[must_use]
    pub fn can_be_shorter(&self) -> bool {
        self.messages.len() > 2
    }

    fn constant_tokens(&self) -> u64 {
        let tools: usize = self
            .tools
            .iter()
            .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len())
            .sum();
        in_tokens(self.system.len() + tools)
    }
}

/// Estimates the tokens of so many bytes.
fn in_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

/// A tool, as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    /// What it does, with examples.
    pub description: String,
    /// A JSON schema of type `object` without `$ref`.
    pub parameters: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// From the outside: the symptom, people, notes of the code.
    User { text: String },
    /// What the model said before.
    Assistant {
        /// Its words; may be empty where it called something.
        text: String,
        calls: Vec<Call>,
        /// What its provider wants to see again. Another provider ignores it.
        carry: Option<Carry>,
    },
    /// What came of its calls.
    Results {
        /// One for each call.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// Counts its bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::User { text } => text.len(),
            Self::Assistant { text, calls, carry } => {
                let carried = carry.as_ref().map_or(0, |carry| carry.value.to_string().len());
                let called: usize =
                    calls.iter().map(|call| call.tool.len() + call.arguments.to_string().len()).sum();
                text.len() + called + carried
            }
            Self::Results { results } => results.iter().map(|result| result.content.len()).sum(),
        }
    }
}

/// A tool that a model wants to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Names the call within the conversation.
    pub id: String,
    /// The tool's name, as the model spelled it.
    pub tool: String,
    /// Its arguments: an object, or the text that was none.
    pub arguments: Value,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub id: String,
    pub tool: String,
    /// What the model reads, as JSON text.
    pub content: String,
    /// Whether the call was refused or failed.
    pub is_error: bool,
}

/// Opaque data that belongs to a turn and that only its provider understands, such as signed thoughts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Carry {
    /// Who understands it.
    pub provider: String,
    pub value: Value,
}

/// A turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Who answered: with a fallback it need not be the first.
    pub investigator: Investigator,
    pub text: String,
    /// What it wants to call, in order.
    pub calls: Vec<Call>,
    /// What its provider wants to see again.
    pub carry: Option<Carry>,
    pub usage: Usage,
    pub stop: Stop,
}

/// Tokens, as the provider counted them; `None` where it did not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that were read, those from a cache included.
    pub input: Option<u64>,
    /// Of these, tokens that came from a cache.
    pub cached: Option<u64>,
    /// Of these, tokens that were put into a cache.
    pub cache_written: Option<u64>,
    /// Tokens that were written, thoughts included.
    pub output: Option<u64>,
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It said what it had to say.
    End,
    /// It waits for what it called.
    Calls,
    /// Its words ran into the limit; the last call may be cut off and is left out.
    Length,
    /// It, or its provider, would not answer.
    Refused {
        /// The reason as far as there is one.
        why: String,
    },
    /// The provider threw the turn away because the model spelled a call wrongly.
    Malformed {
        /// What the provider said.
        why: String,
    },
}

/// Why there is no turn. Retries are over by then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Too many requests, or too many tokens.
    #[error("{provider} limits the rate of requests")]
    RateLimited {
        provider: String,
        /// When to come back, where it said so.
        retry_after: Option<Duration>,
    },
    /// It cannot be reached, is overloaded or broke off.
    #[error("{provider} is not available: {what}")]
    Unavailable { provider: String, what: String },
    /// It did not answer in time.
    #[error("{provider} did not answer within {} s", after.as_secs())]
    Timeout {
        provider: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The key is missing, wrong or may not use the model.
    #[error("{provider} refuses the key: {what}")]
    Unauthorized { provider: String, what: String },
    /// The conversation does not fit into the window.
    #[error("the conversation is too long for {provider}")]
    TooLong { provider: String },
    /// It calls the request wrong. Asking again does not help.
    #[error("{provider} rejects the request: {what}")]
    Rejected { provider: String, what: String },
    /// What it sent is not what its documentation describes.
    #[error("the answer of {provider} cannot be read: {what}")]
    Unreadable { provider: String, what: String },
    /// The list of turns is over.
    #[error("the script has no turn {turn}")]
    ScriptOver {
        /// The turn that was asked for, from zero.
        turn: u32,
    },
}

/// Hears a turn while it is being written. Nothing may depend on it.
pub trait Listener: Send + Sync {
    /// Hears the next words.
    fn text(&self, words: &str);
    /// Hears that a request is repeated, and after how long.
    fn retry(&self, error: &ModelError, after: Duration);
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Listener for Silent {
    fn text(&self, _words: &str) {}
    fn retry(&self, _error: &ModelError, _after: Duration) {}
}

/// Whoever thinks. Dropping the future of an answer ends the request.
#[async_trait]
pub trait Model: Send + Sync {
    /// Returns who answers.
    fn investigator(&self) -> Investigator;

    /// Answers with the next turn.
    ///
    /// # Errors
    /// Fails where there is no turn, after the retries that make sense.
    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError>;

    /// Returns what answers one session alone, where something is remembered from one turn to the next. `last` answered
    /// the session's last turn.
    ///
    /// `None`: this model answers any number of sessions, as it remembers nothing about them.
    fn for_session(&self, _last: Option<&Investigator>) -> Option<Arc<dyn Model>> {
        None
    }
}
