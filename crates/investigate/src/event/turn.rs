//! Turns of a model, and what its calls returned.

use serde::{Deserialize, Serialize};

use crate::event::text;
use crate::model::{Call, Carry, Investigator, Stop, Usage};
use ghost_base::Digest;

/// See [`Event::ModelAsked`](crate::event::Event::ModelAsked).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAsked {
    /// The turn, from zero.
    pub turn: u32,
    /// How many messages went out.
    pub messages: u32,
    /// How many tokens they are by our own count.
    pub tokens: u64,
    /// How many older results were left out to make them fit.
    pub compacted: u32,
    /// The digest of the whole conversation.
    #[serde(with = "text")]
    pub digest: Digest,
}

/// See [`Event::ModelAnswered`](crate::event::Event::ModelAnswered).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswered {
    /// The turn.
    pub turn: u32,
    #[serde(rename = "brain")]
    pub investigator: Investigator,
    /// The words.
    pub text: String,
    /// The calls.
    pub calls: Vec<Call>,
    /// What the provider wants to see again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carry: Option<Carry>,
    /// Tokens.
    pub usage: Usage,
    /// Millionths of a dollar; absent where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// How long it took.
    pub latency_ms: u64,
    /// Why it ended.
    pub stop: Stop,
}

/// See [`Event::AnswerFailed`](crate::event::Event::AnswerFailed).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerFailed {
    /// The turn.
    pub turn: u32,
    /// What went wrong.
    pub problem: String,
    /// Whether the question was too long for it: a shorter one may be answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_long: bool,
}

/// See [`Event::Returned`](crate::event::Event::Returned).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Returned {
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the model reads. Text of the network in it is fenced.
    pub content: String,
    /// Whether it was refused or failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Why it was refused before anything was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// Why a call was refused before anything was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The tool or its arguments are not as its schema says.
    Malformed,
    /// The board holds no hypothesis.
    EmptyBoard,
    /// The same thing was denied before.
    DeniedBefore,
    /// The same thing was asked again and again.
    Repeated,
    /// A gate is closed.
    Gate,
    /// The session ended before its turn came.
    Ended,
}
