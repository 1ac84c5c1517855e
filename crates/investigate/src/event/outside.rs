//! A request of an agent that no session of the bot drives: what it wants to do, and what becomes of the consent to it.

use serde::{Deserialize, Serialize};

use crate::event::{Impact, StepId};

/// What an agent wants to do, as the machine that it runs on says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideRequest {
    /// The name of the agent, such as `Claude Code`.
    pub agent: String,
    /// The machine that it runs on.
    pub machine: String,
    /// The folder that it works in.
    pub folder: String,
    /// The agent's own name of its conversation; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub conversation: String,
    pub kind: OutsideKind,
    /// The whole command, or the whole call.
    pub text: String,
    /// Why it is wanted, in the agent's words.
    pub reasoning: String,
    /// The rule by which it asks there.
    pub rule: String,
    /// Why it asks there.
    pub reason: String,
    /// What it would do to the world.
    pub impact: Impact,
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutsideKind {
    /// A shell command: it is judged again here, and a human may put another one in its place.
    Command,
    /// A call of another tool: it can be approved or denied as it is.
    Call,
}

/// A request and who made it. A session that was opened for one asks a human, gives the answer to whoever asked, and never runs anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// Who asks, by the name that their token has.
    pub caller: String,
    /// The person whose agent it is, where the site says so: they are the requester.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    pub request: OutsideRequest,
}

impl Outside {
    /// What begins the requester of a request whose owner is not known.
    pub const NOBODY: &'static str = "agent:";

    /// Returns who counts as the requester: the owner, or the caller, who is nobody of the messenger.
    #[must_use]
    pub fn requester(&self) -> String {
        self.owner.clone().unwrap_or_else(|| format!("{}{}", Self::NOBODY, self.caller))
    }
}

/// The agent's side wants to use the consent up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeRequested {
    /// Names the one process that wants it.
    pub key: String,
}

/// The consent is used up: from here on what was approved may have happened where the agent runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub step: StepId,
    /// Names the one process that has it.
    pub key: String,
}

/// Whether somebody waits for the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attended {
    pub waits: bool,
}
