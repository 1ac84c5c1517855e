//! How good an answer is: pairs against pairs.

use std::collections::BTreeSet;

use regex::Regex;
use serde::Serialize;

use super::model::{Forbidden, Pair, Phase};

/// The figures of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// How much of what was found is there.
    pub precision: f64,
    /// How much of what is there was found.
    pub recall: f64,
    /// Both in one figure.
    pub f1: f64,
    /// The claims that nobody may make, and that were made.
    pub forbidden_hit: Vec<String>,
}

impl Score {
    /// Compares what was found with what is there. What may be found beside it counts neither for nor against.
    #[must_use]
    pub fn of(phase: &Phase, forbidden: &[Forbidden], found: &[Pair], report: &str) -> Self {
        let set = |pairs: &[Pair]| pairs.iter().cloned().collect::<BTreeSet<Pair>>();
        let (expected, may, found) = (set(&phase.expected), set(&phase.may), set(found));
        let right = expected.intersection(&found).count();
        let wrong = found.iter().filter(|pair| !expected.contains(pair) && !may.contains(pair)).count();
        let precision = share(right, right + wrong);
        let recall = share(right, expected.len());
        let sum = precision + recall;
        let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        let hit = forbidden.iter().filter(|one| is_hit(one, &found, report));
        Self { precision, recall, f1, forbidden_hit: hit.map(|one| one.claim.clone()).collect() }
    }
}

/// Returns a part of a whole; all of it, where the whole is nothing.
fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    if whole == 0 { 1.0 } else { number(part) / number(whole) }
}

fn is_hit(forbidden: &Forbidden, found: &BTreeSet<Pair>, report: &str) -> bool {
    let claimed = forbidden.fault.as_ref().is_some_and(|fault| {
        let object = |pair: &Pair| forbidden.object.as_ref().is_none_or(|object| *object == pair.object);
        found.iter().any(|pair| pair.fault == *fault && object(pair))
    });
    let said = |pattern: &String| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(report));
    claimed || forbidden.says.iter().any(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(expected: &[&str], may: &[&str]) -> Phase {
        let pairs = |names: &[&str]| names.iter().map(|name| Pair::new("f", *name)).collect();
        Phase {
            prompt: String::new(),
            expected: pairs(expected),
            may: pairs(may),
            outcome: Vec::new(),
            fixes: Vec::new(),
        }
    }

    #[track_caller]
    fn scored(expected: &[&str], found: &[&str], figures: (f64, f64, f64)) {
        let found: Vec<Pair> = found.iter().map(|name| Pair::new("f", *name)).collect();
        let score = Score::of(&phase(expected, &["m"]), &[], &found, "");
        let near = |one: f64, two: f64| (one - two).abs() < 1e-9;
        let (precision, recall, f1) = figures;
        assert!(
            near(score.precision, precision) && near(score.recall, recall) && near(score.f1, f1),
            "{score:?}"
        );
    }

    #[test]
    fn found_and_there_are_compared_pair_by_pair() {
        scored(&[], &[], (1.0, 1.0, 1.0));
        scored(&["a"], &["a", "m"], (1.0, 1.0, 1.0));
        scored(&["a", "b"], &["a"], (1.0, 0.5, 2.0 / 3.0));
        scored(&["a"], &["a", "x"], (0.5, 1.0, 2.0 / 3.0));
        scored(&["a"], &[], (1.0, 0.0, 0.0));
        scored(&[], &["x"], (0.0, 1.0, 0.0));
    }

    #[test]
    fn what_nobody_may_claim_is_found_in_pairs_and_in_words() {
        let forbidden = |fault: Option<&str>, object: Option<&str>, says: &[&str]| Forbidden {
            claim: "c".to_owned(),
            fault: fault.map(str::to_owned),
            object: object.map(str::to_owned),
            says: says.iter().map(|text| (*text).to_owned()).collect(),
        };
        let hit = |one: Forbidden| {
            let found = [Pair::new("f", "x")];
            !Score::of(&phase(&[], &[]), &[one], &found, "Only one cause").forbidden_hit.is_empty()
        };
        assert!(hit(forbidden(Some("f"), None, &[])) && hit(forbidden(Some("f"), Some("x"), &[])));
        assert!(!hit(forbidden(Some("f"), Some("y"), &[])) && !hit(forbidden(None, None, &[])));
        assert!(hit(forbidden(None, None, &["(?i)only one"])) && !hit(forbidden(None, None, &["two"])));
    }
}
