//! Findings of a growing capture: reports what changed since the last update.

use std::collections::BTreeMap;

use serde::Serialize;

use super::findings::{Finding, Severity};

/// How many findings are reported while the capture grows; the account at the end has them all.
const MAX_FINDINGS: usize = 200;
/// What comes and goes is reported so often; then it waits for the end.
const MAX_STATE_CHANGES: u32 = 6;
/// A finding is reported again when it grew by this factor.
const NOTABLE_FACTOR: f64 = 2.0;

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// It was not there before.
    New,
    /// It got worse, or one of its figures doubled.
    #[serde(rename = "more")]
    Worse,
    /// What came since has cleared it.
    #[serde(rename = "gone")]
    Cleared,
}

/// What is new.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingUpdate {
    /// What became of it.
    #[serde(rename = "turn")]
    pub state: FindingState,
    /// The finding; of one that is gone, as it was reported last.
    pub finding: Finding,
}

/// Remembers what was reported so that each finding is reported once, and again only when there is notably more of it.
#[derive(Debug, Clone, Default)]
pub struct FindingTracker {
    reported: BTreeMap<(&'static str, String), KnownFinding>,
}

#[derive(Debug, Clone)]
struct KnownFinding {
    finding: Finding,
    present: bool,
    state_changes: u32,
}

impl FindingTracker {
    /// Takes everything that is wrong by now and returns what is new about it.
    pub fn updates(&mut self, findings: Vec<Finding>) -> Vec<FindingUpdate> {
        let mut updates = Vec::new();
        let mut here = Vec::new();
        for finding in findings {
            let key = (finding.code, finding.evidence.filter.clone());
            here.push(key.clone());
            if self.reported.len() >= MAX_FINDINGS && !self.reported.contains_key(&key) {
                continue;
            }
            let Some(known) = self.reported.get_mut(&key) else {
                let known = KnownFinding { finding: finding.clone(), present: true, state_changes: 1 };
                self.reported.insert(key, known);
                updates.push(FindingUpdate { state: FindingState::New, finding });
                continue;
            };
            let state = if !known.present {
                FindingState::New
            } else if worse(&known.finding, &finding) {
                FindingState::Worse
            } else {
                continue;
            };
            known.present = true;
            // Doubling bounds itself; coming and going does not.
            if state == FindingState::Worse || known.state_changes < MAX_STATE_CHANGES {
                known.state_changes += u32::from(state == FindingState::New);
                known.finding = finding.clone();
                updates.push(FindingUpdate { state, finding });
            }
        }
        here.sort_unstable();
        for (key, known) in &mut self.reported {
            if known.present && here.binary_search(key).is_err() {
                known.present = false;
                if known.state_changes < MAX_STATE_CHANGES {
                    known.state_changes += 1;
                    updates
                        .push(FindingUpdate { state: FindingState::Cleared, finding: known.finding.clone() });
                }
            }
        }
        updates
    }
}

/// Tells whether there is notably more of it than when it was reported.
fn worse(before: &Finding, now: &Finding) -> bool {
    // The worst is the smallest.
    let severity: (Severity, Severity) = (now.severity, before.severity);
    let doubled = |(name, number): (&&'static str, &f64)| {
        before.evidence.numbers.get(name).is_some_and(|old| *old > 0.0 && *number >= *old * NOTABLE_FACTOR)
    };
    severity.0 < severity.1 || now.evidence.numbers.iter().any(doubled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Evidence;

    fn finding(filter: &str, severity: Severity, count: f64) -> Finding {
        let numbers = BTreeMap::from([("packets", count)]);
        let evidence = Evidence { frames: vec![1], filter: filter.to_owned(), numbers };
        Finding { code: "some", severity, title: String::new(), evidence, vantage: "" }
    }

    #[track_caller]
    fn check(checks: &[&[(&str, Severity, f64)]], expected: &[&[(FindingState, f64)]]) {
        let mut watch = FindingTracker::default();
        for (look, expected) in checks.iter().zip(expected) {
            let findings = look.iter().map(|(filter, severity, count)| finding(filter, *severity, *count));
            let updates = watch.updates(findings.collect());
            let reported: Vec<_> = updates
                .iter()
                .map(|updates| (updates.state, updates.finding.evidence.numbers["packets"]))
                .collect();
            assert_eq!(reported, *expected);
        }
    }

    const WARNING: Severity = Severity::Warning;

    #[test]
    fn a_finding_is_reported_once_and_again_when_it_doubled() {
        check(
            &[
                &[("a", WARNING, 3.0)],
                &[("a", WARNING, 3.0)],
                &[("a", WARNING, 5.0)],
                &[("a", WARNING, 6.0)],
                &[("a", WARNING, 11.0)],
            ],
            &[&[(FindingState::New, 3.0)], &[], &[], &[(FindingState::Worse, 6.0)], &[]],
        );
    }

    #[test]
    fn what_gets_worse_is_reported_again() {
        check(
            &[&[("a", WARNING, 3.0)], &[("a", Severity::Critical, 3.0)]],
            &[&[(FindingState::New, 3.0)], &[(FindingState::Worse, 3.0)]],
        );
    }

    #[test]
    fn what_is_cleared_is_said_to_be_gone_and_two_are_two() {
        check(
            &[&[("a", WARNING, 3.0), ("b", WARNING, 4.0)], &[("b", WARNING, 4.0)], &[("a", WARNING, 5.0)]],
            &[
                &[(FindingState::New, 3.0), (FindingState::New, 4.0)],
                &[(FindingState::Cleared, 3.0)],
                &[(FindingState::New, 5.0), (FindingState::Cleared, 4.0)],
            ],
        );
    }

    #[test]
    fn what_comes_and_goes_for_ever_is_not_reported_for_ever() {
        let mut watch = FindingTracker::default();
        let mut reported = 0;
        for round in 0..1000 {
            let present = round % 2 == 0;
            reported +=
                watch.updates(present.then(|| finding("a", WARNING, 3.0)).into_iter().collect()).len();
        }
        assert_eq!(reported, 6);
        let many = (0..1000).map(|at| finding(&at.to_string(), WARNING, 3.0)).collect();
        assert_eq!(FindingTracker::default().updates(many).len(), 200);
    }
}
