//! Holding what a command would send to against what is known.

use crate::judge::address::is_metadata;
use crate::policy::{Policy, shorten};
use crate::{Impact, Known, Ruling, Verdict};

/// How many unknown destinations are named in a reason.
const MAX_NAMED: usize = 3;

impl Policy {
    /// Makes a SAFE command ask that would send something to a place that is not known.
    ///
    /// A packet to a stranger cannot be taken back, and its name or path can carry what was read before: so it is a change, as
    /// everything is that the table of impacts does not name.
    #[must_use]
    pub fn hold(&self, ruling: Ruling, known: &Known) -> Ruling {
        if ruling.verdict != Verdict::Safe || ruling.destinations.is_empty() {
            return ruling;
        }
        let unknown = self.unknown(&ruling, known);
        if unknown.is_empty() {
            return ruling;
        }
        let named: Vec<String> =
            unknown.iter().take(MAX_NAMED).map(|host| format!("`{}`", shorten(host))).collect();
        let more = match unknown.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let reason = format!(
            "it would send something to {}{more}: nobody named that place in the incident, the cloud did not list it, and \
             `[shell] destinations` does not hold it",
            named.join(", ")
        );
        Ruling {
            verdict: Verdict::Risky,
            rule: Ruling::UNKNOWN_DESTINATION.into(),
            reason: reason.into(),
            impact: Some(Impact::Change),
            ..ruling
        }
    }

    /// Returns the destinations of a ruling that are not known.
    #[must_use]
    pub fn unknown<'a>(&self, ruling: &'a Ruling, known: &Known) -> Vec<&'a str> {
        let covers = |host: &str| known.covers(host, is_metadata(host, &self.block));
        let is_unknown = |host: &&String| !covers(host) && !self.cloud.word_of(host).is_some_and(covers);
        ruling.destinations.iter().filter(is_unknown).map(String::as_str).collect()
    }
}
