//! `[approval]`: who may say yes to what.

use serde::Deserialize;

/// `[approval]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// What whoever asked for an investigation may approve in it. Unless said: everything in a terminal, where nobody else is
    /// there, and captures and measurements anywhere else.
    pub requester: Option<RequesterMay>,
    /// Whether whoever changed a command may be the only one to approve it. Unless said: in a terminal, where nobody else is there,
    /// and nowhere else.
    pub modifier: Option<bool>,
    /// Who approves captures and measurements, in Slack. Nobody, unless somebody is named.
    pub measurement: super::People,
    /// Who approves what stops or restarts something that others use, in Slack. Nobody, unless somebody is named.
    pub outage: Voters,
    /// Who approves everything else, in Slack. Nobody, unless somebody is named.
    pub change: Voters,
}

/// `[approval.outage]` and `[approval.change]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Voters {
    /// Ids of people, `U…` or `W…`.
    pub users: std::collections::BTreeSet<String>,
    /// Ids of user groups, `S…`.
    pub groups: std::collections::BTreeSet<String>,
    /// How many different people have to approve; unless said 2 for an outage and 1 for a change.
    pub approvers: Option<u32>,
}

impl Voters {
    /// Returns who is named.
    #[must_use]
    pub fn people(&self) -> super::People {
        super::People { users: self.users.clone(), groups: self.groups.clone() }
    }
}

impl Approval {
    /// Returns how many different people have to approve an outage.
    #[must_use]
    pub fn outage_approvers(&self) -> u32 {
        self.outage.approvers.unwrap_or(2)
    }

    /// Returns how many different people have to approve a change.
    #[must_use]
    pub fn change_approvers(&self) -> u32 {
        self.change.approvers.unwrap_or(1)
    }

    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = self.measurement.problems("[approval.measurement]");
        problems.extend(self.outage.people().problems("[approval.outage]"));
        problems.extend(self.change.people().problems("[approval.change]"));
        for (name, approvers) in [("outage", self.outage_approvers()), ("change", self.change_approvers())] {
            if !(1..=10).contains(&approvers) {
                problems.push(format!("[approval.{name}] approvers: it has to lie between 1 and 10"));
            }
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
    Everything,
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_named_and_an_outage_takes_two_people_unless_said() {
        let approval: Approval = toml::from_str("").unwrap();
        assert_eq!((approval.outage_approvers(), approval.change_approvers()), (2, 1));
        assert!(approval.outage.users.is_empty() && approval.outage.groups.is_empty());
        assert_eq!(approval.modifier, None);
    }

    #[test]
    fn wrong_approvers_of_outages_are_reported() {
        let wrong = "modifier = true\n[outage]\napprovers = 0\nusers = ['ana']";
        let approval: Approval = toml::from_str(wrong).unwrap();
        let problems = approval.problems();
        assert!(
            problems.iter().any(|problem| problem.contains("[approval.outage] approvers")),
            "{problems:?}"
        );
        assert!(problems.iter().any(|problem| problem.contains("[approval.outage] users")), "{problems:?}");
        assert_eq!(problems.len(), 2);
    }
}
