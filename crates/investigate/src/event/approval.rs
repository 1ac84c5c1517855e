//! Questions to humans and their answers.

use serde::{Deserialize, Serialize};

use crate::event::{StepId, text};
use ghost_base::{Digest, Timestamp};
use ghost_shell::Impact;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    pub approval: String,
    pub step: StepId,
    pub round: u32,
    /// What exactly is asked.
    #[serde(with = "text")]
    pub digest: Digest,
    /// From then on the question counts as denied.
    #[serde(with = "text")]
    pub expires_at: Timestamp,
    /// How many different people must approve.
    pub votes_needed: u32,
    /// What it does to the world.
    pub impact: Impact,
    /// An earlier run was cut off, so that nobody knows whether it took effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outcome_unknown: bool,
    /// The commands that an approval covers, each at most once and in this order, that of the step first; empty where it is only
    /// that one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<String>,
    /// The judgement on each command of the plan, in the same order; empty in ledgers of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judgements: Vec<PlanJudgement>,
    /// What it does to flows, judged on what was read; absent where it changes no network that is known, and in ledgers of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<ChangeForecast>,
}

/// What a change does to flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeForecast {
    /// `harmful`: something that passed is cut, or something opens to the internet; `harmless`, or `unknown`.
    pub verdict: String,
    /// What it comes to, as a sentence without its end.
    pub words: String,
    /// Flows that end otherwise, and rules that are dead or open, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// How many flows more there are.
    #[serde(default)]
    pub more: u32,
    /// The command that takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Whether the command that takes it back is named once it has run; not so in ledgers of before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_undone_later: bool,
    /// Whether the flows are looked at again after the run; not so in ledgers of before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_confirmed_later: bool,
}

/// What the flows were found to be after a change that had a forecast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForecastChecked {
    /// The change.
    pub step: StepId,
    pub verdict: ForecastVerdict,
    /// What it comes to, as a sentence without its end.
    pub words: String,
    /// Flows that ended otherwise than forecast.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// The command that takes the change back, where only what was read after it names that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

/// Whether a forecast came true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastVerdict {
    Confirmed,
    Contradicted,
    /// What it is about could not be read again.
    Unknown,
}

impl ForecastVerdict {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Contradicted => "contradicted",
            Self::Unknown => "not checked",
        }
    }
}

impl ChangeForecast {
    /// Says that nobody can say.
    #[must_use]
    pub fn unknown(why: &str) -> Self {
        Self {
            verdict: "unknown".to_owned(),
            words: why.to_owned(),
            flows: Vec::new(),
            more: 0,
            undo: None,
            is_undone_later: false,
            is_confirmed_later: false,
        }
    }
}

/// The judgement on one command of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanJudgement {
    /// `SAFE` or `RISKY`: a plan holds nothing else.
    pub verdict: String,
    pub rule: String,
    pub reason: String,
    /// What it would do to the world, where it needs consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
}

impl ApprovalRequested {
    /// Returns the digest that binds an answer to exactly this command, or to the whole plan that begins with it.
    #[must_use]
    pub fn bind(command: Digest, plan: &[String]) -> Digest {
        if plan.is_empty() {
            return command;
        }
        let command = command.to_string();
        Digest::of_fields(["plan", command.as_str()].into_iter().chain(plan.iter().map(String::as_str)))
    }

    /// Tells whether it is about several commands.
    #[must_use]
    pub fn is_plan(&self) -> bool {
        !self.plan.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalVoted {
    pub approval: String,
    pub who: String,
    /// Whether it was a yes.
    pub approves: bool,
    #[serde(with = "text")]
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecided {
    pub approval: String,
    pub step: StepId,
    pub answer: Reply,
    /// Whose vote it was.
    pub who: String,
    /// The name by which people know them, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(with = "text")]
    pub at: Timestamp,
}

/// What a human answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Reply {
    /// Run exactly what was shown, once.
    Approve,
    /// Run nothing.
    Deny { reason: String },
    /// Judge this command instead.
    Modify {
        /// The whole new command.
        command: String,
    },
}

impl Reply {
    /// The reason of a no that nobody gave: the session was stopped while it asked.
    pub const STOPPED: &'static str = "the session was stopped";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalExpired {
    pub approval: String,
    pub step: StepId,
}
