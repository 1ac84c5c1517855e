//! Findings while a capture grows: what is new since the last look.

use std::collections::BTreeMap;

use serde::Serialize;

use super::findings::{Finding, Severity};

/// So many findings are told while the capture grows; the account at the end has them all.
const MOST: usize = 200;
/// What comes and goes is told so often; then it waits for the end.
const MOST_TURNS: u32 = 6;
/// So many times what was told before is worth another word.
const NOTABLE: f64 = 2.0;

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// It was not there before.
    New,
    /// It got worse, or one of its figures doubled.
    More,
    /// What came since has cleared it.
    Gone,
}

/// What is new.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct News {
    /// What became of it.
    pub turn: Turn,
    /// The finding; of one that is gone, as it was told last.
    pub finding: Finding,
}

/// Remembers what was told, so that each finding is told once, and again only when there is notably more of it.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    told: BTreeMap<(&'static str, String), Known>,
}

#[derive(Debug, Clone)]
struct Known {
    finding: Finding,
    there: bool,
    turns: u32,
}

impl Watch {
    /// Takes everything that is wrong by now and returns what is new about it.
    pub fn news(&mut self, findings: Vec<Finding>) -> Vec<News> {
        let mut news = Vec::new();
        let mut here = Vec::new();
        for finding in findings {
            let key = (finding.code, finding.evidence.filter.clone());
            here.push(key.clone());
            if self.told.len() >= MOST && !self.told.contains_key(&key) {
                continue;
            }
            let Some(known) = self.told.get_mut(&key) else {
                let known = Known { finding: finding.clone(), there: true, turns: 1 };
                self.told.insert(key, known);
                news.push(News { turn: Turn::New, finding });
                continue;
            };
            let turn = if !known.there {
                Turn::New
            } else if worse(&known.finding, &finding) {
                Turn::More
            } else {
                continue;
            };
            known.there = true;
            // Doubling bounds itself; coming and going does not.
            if turn == Turn::More || known.turns < MOST_TURNS {
                known.turns += u32::from(turn == Turn::New);
                known.finding = finding.clone();
                news.push(News { turn, finding });
            }
        }
        here.sort_unstable();
        for (key, known) in &mut self.told {
            if known.there && here.binary_search(key).is_err() {
                known.there = false;
                if known.turns < MOST_TURNS {
                    known.turns += 1;
                    news.push(News { turn: Turn::Gone, finding: known.finding.clone() });
                }
            }
        }
        news
    }
}

/// Says whether there is notably more of it than when it was told.
fn worse(before: &Finding, now: &Finding) -> bool {
    // The worst is the smallest.
    let severity: (Severity, Severity) = (now.severity, before.severity);
    let doubled = |(name, number): (&&'static str, &f64)| {
        before.evidence.numbers.get(name).is_some_and(|old| *old > 0.0 && *number >= *old * NOTABLE)
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
    fn check(looks: &[&[(&str, Severity, f64)]], expected: &[&[(Turn, f64)]]) {
        let mut watch = Watch::default();
        for (look, expected) in looks.iter().zip(expected) {
            let findings = look.iter().map(|(filter, severity, count)| finding(filter, *severity, *count));
            let news = watch.news(findings.collect());
            let told: Vec<_> =
                news.iter().map(|news| (news.turn, news.finding.evidence.numbers["packets"])).collect();
            assert_eq!(told, *expected);
        }
    }

    const WARNING: Severity = Severity::Warning;

    #[test]
    fn a_finding_is_told_once_and_again_when_it_doubled() {
        check(
            &[
                &[("a", WARNING, 3.0)],
                &[("a", WARNING, 3.0)],
                &[("a", WARNING, 5.0)],
                &[("a", WARNING, 6.0)],
                &[("a", WARNING, 11.0)],
            ],
            &[&[(Turn::New, 3.0)], &[], &[], &[(Turn::More, 6.0)], &[]],
        );
    }

    #[test]
    fn what_gets_worse_is_told_again() {
        check(
            &[&[("a", WARNING, 3.0)], &[("a", Severity::Critical, 3.0)]],
            &[&[(Turn::New, 3.0)], &[(Turn::More, 3.0)]],
        );
    }

    #[test]
    fn what_is_cleared_is_said_to_be_gone_and_two_are_two() {
        check(
            &[&[("a", WARNING, 3.0), ("b", WARNING, 4.0)], &[("b", WARNING, 4.0)], &[("a", WARNING, 5.0)]],
            &[
                &[(Turn::New, 3.0), (Turn::New, 4.0)],
                &[(Turn::Gone, 3.0)],
                &[(Turn::New, 5.0), (Turn::Gone, 4.0)],
            ],
        );
    }

    #[test]
    fn what_comes_and_goes_for_ever_is_not_told_for_ever() {
        let mut watch = Watch::default();
        let mut told = 0;
        for round in 0..1000 {
            let there = round % 2 == 0;
            told += watch.news(there.then(|| finding("a", WARNING, 3.0)).into_iter().collect()).len();
        }
        assert_eq!(told, 6);
        let many = (0..1000).map(|at| finding(&at.to_string(), WARNING, 3.0)).collect();
        assert_eq!(Watch::default().news(many).len(), 200);
    }
}
