//! What a session may spend.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The budgets of a session. They are recorded when it opens, so that a change of the configuration does not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Turns of the model.
    pub turns: u32,
    /// Commands.
    pub commands: u32,
    /// Minutes, those not counted in which a human is waited for.
    pub minutes: u32,
    /// Bytes of packets captured.
    pub captured_bytes: u64,
    /// Tokens, read and written; zero is no limit.
    pub tokens: u64,
    /// Millionths of a dollar; zero is no limit. Unknown prices count as nothing and are told as unknown.
    pub cost_micros: u64,
    /// Minutes in which an approval has to be given.
    pub approval_minutes: u32,
    /// Tokens of one result that a model reads.
    pub result_tokens: u32,
    /// Tokens of one answer.
    pub answer_tokens: u32,
    /// How many different people must approve a change.
    pub approvers: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 50,
            commands: 200,
            minutes: 60,
            captured_bytes: 200_000_000,
            tokens: 0,
            cost_micros: 0,
            approval_minutes: 15,
            result_tokens: 4_000,
            answer_tokens: 8_192,
            approvers: 1,
        }
    }
}

impl Limits {
    /// Returns how long an approval may take.
    #[must_use]
    pub fn approval(&self) -> Duration {
        Duration::from_secs(u64::from(self.approval_minutes) * 60)
    }
}
