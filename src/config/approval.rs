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
    pub change: Change,
}

/// `[approval.change]`.
#[cfg(feature = "bot")]
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Ids of people, `U…` or `W…`.
    pub users: std::collections::BTreeSet<String>,
    /// Ids of user groups, `S…`.
    pub groups: std::collections::BTreeSet<String>,
    /// How many different people have to approve; 1 unless said.
    pub approvers: u32,
}

#[cfg(feature = "bot")]
impl Default for Change {
    fn default() -> Self {
        Self { users: Default::default(), groups: Default::default(), approvers: 1 }
    }
}

#[cfg(feature = "bot")]
impl Change {
    /// Returns who is named.
    #[must_use]
    pub fn people(&self) -> super::People {
        super::People { users: self.users.clone(), groups: self.groups.clone() }
    }
}

#[cfg(feature = "bot")]
impl Approval {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = self.measurement.problems("[approval.measurement]");
        problems.extend(self.change.people().problems("[approval.change]"));
        if !(1..=10).contains(&self.change.approvers) {
            problems.push("[approval.change] approvers: it has to lie between 1 and 10".to_owned());
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
