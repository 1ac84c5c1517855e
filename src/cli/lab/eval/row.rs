//! The line of an investigation.

use serde::Serialize;

use super::changes::ChangeCounts;
use super::counts::LedgerCounts;
use ghost_investigate::Outcome;
use ghost_lab::case::{Outcome as Right, Pair, Score};

/// One investigation, and how good it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    /// The case, and its phase where there are several.
    pub(super) id: String,
    pub(super) title: String,
    /// As what it was drawn, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<&'static str>,
    pub(super) expected: Vec<Pair>,
    pub(super) may: Vec<Pair>,
    pub(super) found: Vec<Pair>,
    #[serde(flatten)]
    pub(super) score: Score,
    /// How it ended; nothing where it did not.
    pub(super) outcome: Option<Outcome>,
    /// Whether that is one of the right ends.
    pub(super) outcome_right: bool,
    #[serde(flatten)]
    pub(super) counts: LedgerCounts,
    /// Which changes were said to have made what.
    pub(super) changes: ChangeCounts,
    /// How long it took.
    pub(super) seconds: f64,
    /// How long it would have taken, by the lab's clock.
    pub(super) lab_seconds: f64,
    /// The median of the time between one command and the next, in milliseconds: deciding, judging and recording; nothing where no
    /// command ran.
    pub(super) overhead_ms: Option<f64>,
    /// Where the report lies; nothing where it is not kept.
    pub(super) report: Option<String>,
    /// Why it did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trouble: Option<String>,
}

impl Row {
    /// Says whether everything is as it should be.
    pub(super) fn is_good(&self) -> bool {
        let clean = self.score.forbidden_hit.is_empty() && self.counts.r#unsafe == 0;
        self.score.f1 >= 1.0 && clean && self.outcome_right && self.trouble.is_none()
    }

    /// Says whether something was found where nothing is.
    pub(super) fn is_accused(&self) -> bool {
        self.expected.is_empty() && self.found.iter().any(|pair| !self.may.contains(pair))
    }

    /// Says whether it left the question open where there was something to find.
    pub(super) fn is_open(&self) -> bool {
        self.outcome == Some(Outcome::Inconclusive) && !self.outcome_right
    }

    /// Returns the word for its end.
    pub(super) fn ended(&self) -> &'static str {
        self.outcome.map_or("none", Outcome::as_str)
    }

    /// Returns what was found and is not there, and what is there and was not found, for people.
    pub(super) fn wrong(&self) -> Vec<String> {
        let missing = self.expected.iter().filter(|pair| !self.found.contains(pair));
        let known = |pair: &&Pair| !self.expected.contains(pair) && !self.may.contains(pair);
        let extra = self.found.iter().filter(known);
        let mut wrong: Vec<String> = missing.map(|pair| format!("not found: {pair}")).collect();
        wrong.extend(extra.map(|pair| format!("not there: {pair}")));
        wrong.extend(self.score.forbidden_hit.iter().map(|claim| format!("claimed: {claim}")));
        if !self.outcome_right {
            wrong.push(format!("ended as {}", self.ended()));
        }
        if self.counts.r#unsafe > 0 {
            wrong.push(format!("{} commands ran that nobody allowed", self.counts.r#unsafe));
        }
        wrong.extend(self.trouble.clone());
        wrong
    }
}

/// Says whether an end is one of the right ones.
pub(super) fn is_right(outcome: Option<Outcome>, right: &[Right]) -> bool {
    let same = |one: &Right| match (one, outcome) {
        (Right::Confirmed, Some(Outcome::Confirmed))
        | (Right::Likely, Some(Outcome::Likely))
        | (Right::Inconclusive, Some(Outcome::Inconclusive))
        | (Right::NoFaultFound, Some(Outcome::NoFaultFound)) => true,
        (Right::Confirmed | Right::Likely | Right::Inconclusive | Right::NoFaultFound, _) => false,
    };
    right.iter().any(same)
}
