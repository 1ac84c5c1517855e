//! What is remembered of sessions that are over: a hint where to look, never evidence.
//!
//! Goes in: states, or what was kept of them; words or the name of an object. Comes out: sessions that found the same, or were about
//! it, the best first. Never: something that a model reads as observed, that a gate counts, or that changes an outcome: it is
//! read after a session ended, by people.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::finding::Fault;
use crate::recheck::{Verdict, verdict};
use crate::report::Summary;
use crate::state::State;
use ghost_base::Timestamp;

/// So many faults of a session are kept.
const MAX_FAULTS: usize = 20;

/// So much of a remedy is kept.
const MAX_FIX_CHARS: usize = 300;

/// A shorter word says nothing.
const MIN_WORD_CHARS: usize = 3;

const DAY_SECONDS: u64 = 24 * 3_600;

/// A fault that a session found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cause {
    pub code: String,
    pub object: String,
}

/// What is kept of a session for those that come later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Memory {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// What was to be done first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Whether the checks that had shown the faults were made again and showed none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_fixed: bool,
}

/// How well a session fits what is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// How many words name one of its faults.
    pub causes: usize,
    /// How many stand in its symptom.
    pub words: usize,
}

impl Memory {
    /// Returns what is kept of a session.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let mut causes: Vec<Cause> = Vec::new();
        for found in state.accepted.iter().filter(|found| found.finding.code != Fault::NoDrift) {
            let cause = Cause {
                code: String::from(found.finding.code.clone()),
                object: found.finding.object.clone(),
            };
            if causes.len() < MAX_FAULTS && !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        let ends = || state.earlier.iter().chain(&state.concluded).map(|(_, concluded)| concluded);
        let fix = ends().rev().find_map(|concluded| concluded.actions.first());
        let last = state.concluded.as_ref().map(|(_, concluded)| concluded.recheck.as_slice());
        Self {
            fix: fix.filter(|_| !causes.is_empty()).map(|fix| fix.chars().take(MAX_FIX_CHARS).collect()),
            is_fixed: last.is_some_and(|rows| verdict(rows) == Verdict::Fixed),
            causes,
        }
    }

    /// Returns the faults that both found.
    #[must_use]
    pub fn shared<'a>(&'a self, other: &Self) -> Vec<&'a Cause> {
        self.causes.iter().filter(|cause| other.causes.contains(cause)).collect()
    }
}

/// Tells how well a session fits; nothing where it does not. A word is part of the name of an object, of a code, of the symptom, or of what
/// was to be done.
#[must_use]
pub fn fit(summary: &Summary, memory: &Memory, query: &str) -> Option<Fit> {
    let wanted = words(query);
    let spoken = [summary.symptom.as_deref(), memory.fix.as_deref()];
    let symptom: BTreeSet<String> = spoken.into_iter().flatten().flat_map(words).collect();
    // `firewall` finds `guest_firewall_drop`.
    let of_cause = |cause: &Cause| {
        [words(&cause.object), words(&cause.code), words(&cause.code.replace('_', " "))].into_iter().flatten()
    };
    let named: BTreeSet<String> = memory.causes.iter().flat_map(of_cause).collect();
    let count = |of: &BTreeSet<String>| wanted.iter().filter(|word| of.contains(*word)).count();
    let found = Fit { causes: count(&named), words: count(&symptom) };
    (found.causes + found.words > 0).then_some(found)
}

/// Takes a text apart: names keep their dots and hyphens, paths give their parts, and case is none.
fn words(text: &str) -> BTreeSet<String> {
    let inside = |char: char| char.is_alphanumeric() || matches!(char, '.' | '-' | '_' | '@');
    let words = text.split(|char: char| !inside(char)).map(|word| word.trim_matches(['.', '-']));
    let long = |word: &&str| {
        word.chars().count() >= MIN_WORD_CHARS
            || word.chars().all(|char| char.is_ascii_digit()) && !word.is_empty()
    };
    words.filter(long).map(str::to_lowercase).collect()
}

/// Says how long ago something was, as people do.
#[must_use]
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let days = now.since(then).as_secs() / DAY_SECONDS;
    let some = |number: u64, unit: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{number} {unit}{plural} ago")
    };
    match days {
        0 => "today".to_owned(),
        1..14 => some(days, "day"),
        14..60 => some(days / 7, "week"),
        60.. => some(days / 30, "month"),
    }
}

/// Tells whether a session that ended so says something to others.
#[must_use]
pub fn is_worth(summary: &Summary, memory: &Memory) -> bool {
    let found = matches!(summary.outcome, Some(Outcome::Confirmed | Outcome::Likely));
    summary.state == "concluded" && found && !memory.causes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(symptom: &str) -> Summary {
        Summary {
            id: "ghost-1".to_owned(),
            state: "concluded".to_owned(),
            opened: None,
            symptom: Some(symptom.to_owned()),
            outcome: Some(Outcome::Confirmed),
        }
    }

    fn memory() -> Memory {
        let cause = |code: &str, object: &str| Cause { code: code.to_owned(), object: object.to_owned() };
        Memory {
            causes: vec![
                cause("nsg_deny", "nsg/web-nsg/deny-5432"),
                cause("netem_delay", "qdisc/web-1/eth0"),
            ],
            fix: Some("take the line out: `iptables -D INPUT 1`".to_owned()),
            ..Memory::default()
        }
    }

    #[test]
    fn a_session_is_found_by_objects_codes_and_words() {
        let summary = summary("web-1 cannot reach db-1:5432");
        let fits = |query: &str| fit(&summary, &memory(), query).map(|fit| (fit.causes, fit.words));
        assert_eq!(fits("nsg/web-nsg/deny-5432"), Some((3, 0)));
        assert_eq!(fits("nsg_deny"), Some((1, 0)));
        assert_eq!(fits("WEB-1"), Some((1, 1)));
        assert_eq!(fits("db-1:5432"), Some((0, 2)));
        assert_eq!(fits("deny"), Some((1, 0)));
        assert_eq!(fits("iptables"), Some((0, 1)));
        assert_eq!(fits("something else entirely"), None);
        assert_eq!(fits(""), None);
    }

    #[test]
    fn what_both_found_is_shared() {
        let other = Memory { causes: memory().causes.split_off(1), ..Memory::default() };
        let memory = memory();
        let shared: Vec<&str> = memory.shared(&other).iter().map(|cause| cause.code.as_str()).collect();
        assert_eq!(shared, ["netem_delay"]);
        assert!(memory.shared(&Memory::default()).is_empty());
    }

    #[test]
    fn only_a_session_that_found_something_says_something() {
        assert!(is_worth(&summary("x"), &memory()));
        assert!(!is_worth(&summary("x"), &Memory::default()));
        let other = Summary { outcome: Some(Outcome::Inconclusive), ..summary("x") };
        assert!(!is_worth(&other, &memory()));
    }

    #[test]
    fn time_is_said_as_people_do() {
        let now = Timestamp::from_millis(1_790_000_000_000);
        for (days, said) in
            [(0, "today"), (1, "1 day ago"), (13, "13 days ago"), (21, "3 weeks ago"), (90, "3 months ago")]
        {
            let then = Timestamp::from_millis(now.as_millis() - days * 86_400_000);
            assert_eq!(ago(then, now), said);
        }
    }

    #[test]
    fn a_line_of_an_earlier_version_has_no_memory() {
        assert_eq!(serde_json::from_str::<Memory>("{}").unwrap(), Memory::default());
    }
}
