//! `[approval]`: who may say yes to what.

use serde::Deserialize;

/// `[approval]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// What whoever asked for an investigation may approve in it. Unless said: everything in a terminal, where nobody else is
    /// there, and captures and measurements anywhere else.
    pub requester: Option<RequesterMay>,
    /// Who approves captures and measurements, in Slack. Nobody, unless somebody is named.
    #[cfg(feature = "bot")]
    pub measurement: super::People,
    /// Who approves everything else, in Slack. Nobody, unless somebody is named.
    #[cfg(feature = "bot")]
    pub change: super::People,
    /// How many different people have to approve a change in Slack; 1 unless said.
    #[cfg(feature = "bot")]
    pub change_votes: Option<u32>,
}

#[cfg(feature = "bot")]
impl Approval {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = self.measurement.problems("[approval] measurement");
        problems.extend(self.change.problems("[approval] change"));
        if self.change_votes.is_some_and(|votes| !(1..=10).contains(&votes)) {
            problems.push("[approval] change_votes: it has to lie between 1 and 10".to_owned());
        }
        problems
    }
}

/// What a requester may approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequesterMay {
    /// Captures and measurements.
    Measure,
    /// Everything.
    Everything,
    /// Nothing.
    Nothing,
}
