//! The budgets of a session.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::event::Impact;
use crate::state::Spent;

/// The budgets of a session. They are recorded when it opens, so that a change of the configuration does not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Turns of the model.
    pub turns: u32,
    pub commands: u32,
    /// Minutes, those not counted in which a human is waited for.
    pub minutes: u32,
    /// Bytes of packets captured.
    pub captured_bytes: u64,
    /// Tokens, read and written; zero is no limit.
    pub tokens: u64,
    /// Millionths of a dollar; zero is no limit. Unknown prices count as zero and are reported as unknown.
    pub cost_micros: u64,
    /// Minutes in which an approval has to be given.
    pub approval_minutes: u32,
    /// Tokens of one result that a model reads.
    pub result_tokens: u32,
    pub answer_tokens: u32,
    /// How many different people must approve a change.
    pub approvers: u32,
    /// How many different people must approve an outage.
    #[serde(skip_serializing_if = "is_default")]
    pub outage_approvers: u32,
}

const DEFAULT_OUTAGE_APPROVERS: u32 = 2;

/// The default is not written, so that an earlier version can continue the session.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_default(approvers: &u32) -> bool {
    *approvers == DEFAULT_OUTAGE_APPROVERS
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
            outage_approvers: DEFAULT_OUTAGE_APPROVERS,
        }
    }
}

impl Limits {
    /// Returns the limits of a session that continues behind its report: the same again, beyond what was spent.
    #[must_use]
    pub fn beyond(&self, spent: &Spent, at_work: Duration) -> Self {
        let unless_none = |limit: u64, spent: u64| if limit == 0 { 0 } else { limit.saturating_add(spent) };
        let minutes = u32::try_from(at_work.as_secs() / 60).unwrap_or(u32::MAX);
        Self {
            turns: self.turns.saturating_add(spent.turns),
            commands: self.commands.saturating_add(spent.commands),
            minutes: self.minutes.saturating_add(minutes),
            captured_bytes: self.captured_bytes.saturating_add(spent.captured_bytes),
            tokens: unless_none(self.tokens, spent.tokens),
            cost_micros: unless_none(self.cost_micros, spent.cost_micros),
            ..*self
        }
    }

    /// Returns how many different people must approve what has that impact.
    #[must_use]
    pub fn votes_needed(&self, impact: Impact) -> u32 {
        match impact {
            Impact::Measurement => 1,
            Impact::Outage => self.outage_approvers.max(1),
            Impact::Change => self.approvers.max(1),
        }
    }

    /// Returns how long an approval may take.
    #[must_use]
    pub fn approval(&self) -> Duration {
        Duration::from_secs(u64::from(self.approval_minutes) * 60)
    }
}
