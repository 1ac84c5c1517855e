//! Who may approve what.

use serde::{Deserialize, Serialize};

use crate::event::Impact;

/// What whoever asked for an investigation may approve in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequesterMay {
    /// Captures and measurements; an outage or a change takes somebody else.
    #[default]
    Measure,
    /// Everything: who sits at a terminal acts with their own rights.
    Everything,
    Nothing,
}

/// What somebody may approve of what they asked for or changed themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SelfApproval {
    /// What whoever asked for the investigation may approve in it.
    pub requester: RequesterMay,
    /// Whether whoever changed a command may be the only one to approve it.
    pub modifier: bool,
}

/// Why somebody may not approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalRefused {
    #[error("whoever asked for the investigation cannot approve an outage in it; somebody else has to")]
    OwnOutage,
    #[error("whoever asked for the investigation cannot approve a change in it; somebody else has to")]
    OwnChange,
    #[error("whoever asked for the investigation cannot approve in it; somebody else has to")]
    OwnInvestigation,
    #[error("you changed this command; somebody else has to approve it")]
    OwnModification,
}

/// Checks whether somebody may approve. A denial is everybody's right.
///
/// # Errors
/// Fails where the rule of the configuration forbids it.
pub fn may_approve(
    rule: RequesterMay,
    requester: &str,
    voter: &str,
    impact: Impact,
) -> Result<(), ApprovalRefused> {
    let own = requester == voter;
    match (rule, impact) {
        _ if !own => Ok(()),
        (RequesterMay::Everything, _) | (RequesterMay::Measure, Impact::Measurement) => Ok(()),
        (RequesterMay::Measure, Impact::Outage) => Err(ApprovalRefused::OwnOutage),
        (RequesterMay::Measure, Impact::Change) => Err(ApprovalRefused::OwnChange),
        (RequesterMay::Nothing, _) => Err(ApprovalRefused::OwnInvestigation),
    }
}

/// Checks whether the approval of whoever changed a command counts. Where several people have to approve, one of them is somebody
/// else.
///
/// # Errors
/// Fails where somebody else has to approve.
pub fn may_approve_modified(
    rule: SelfApproval,
    modifier: Option<&str>,
    voter: &str,
    votes_needed: u32,
) -> Result<(), ApprovalRefused> {
    if rule.modifier || modifier != Some(voter) || votes_needed > 1 {
        return Ok(());
    }
    Err(ApprovalRefused::OwnModification)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn approves(rule: RequesterMay, voter: &str, impact: Impact) -> bool {
        may_approve(rule, "ana", voter, impact).is_ok()
    }

    #[test]
    fn the_requester_may_approve_a_measurement_and_neither_an_outage_nor_a_change() {
        assert!(approves(RequesterMay::Measure, "ana", Impact::Measurement));
        assert!(!approves(RequesterMay::Measure, "ana", Impact::Outage));
        assert!(!approves(RequesterMay::Measure, "ana", Impact::Change));
        assert!(approves(RequesterMay::Measure, "ben", Impact::Change));
        assert!(!approves(RequesterMay::Nothing, "ana", Impact::Measurement));
        assert!(approves(RequesterMay::Everything, "ana", Impact::Outage));
        assert!(approves(RequesterMay::Everything, "ana", Impact::Change));
    }

    #[test]
    fn whoever_changed_a_command_is_not_its_only_approver() {
        let may = |modifier, voter, needed| {
            let rule = SelfApproval { modifier, ..SelfApproval::default() };
            may_approve_modified(rule, Some("ana"), voter, needed).is_ok()
        };
        assert!(!may(false, "ana", 1));
        assert!(may(false, "ben", 1), "somebody else may");
        assert!(may(false, "ana", 2), "one of two is somebody else");
        assert!(may(true, "ana", 1), "the configuration may allow it");
        assert!(may_approve_modified(SelfApproval::default(), None, "ana", 1).is_ok(), "nobody changed it");
    }
}
