//! Findings and rules: codes, thresholds, severity, evidence.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{datagrams, echo, flood, http, link, names, path, suspect, tcp, tls};

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Somebody is attacked, or a service is not there.
    Critical,
    /// Somebody notices.
    Warning,
    /// Good to know.
    Info,
}

impl Severity {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Something that is wrong, with what shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its name, for ever the same.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, with whom.
    pub title: String,
    /// What shows it.
    pub evidence: Evidence,
    /// What this capture point can and cannot show.
    pub vantage: &'static str,
}

/// What shows a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The first few frames.
    pub frames: Vec<u64>,
    /// A display filter that shows them, and others of the kind.
    pub filter: String,
    /// The figures behind the severity.
    pub numbers: BTreeMap<&'static str, f64>,
}

/// A rule. Its limits are data: they are printed by `ghost pcap rules`, and nothing else holds them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rule {
    /// The name of its findings, for ever the same.
    pub code: &'static str,
    /// How bad they are.
    pub severity: Severity,
    /// How often it has to happen.
    pub at_least: u64,
    /// Which part of all it has to be, in percent.
    pub percent: f64,
    /// When a finding is made.
    pub when: &'static str,
    /// What a capture can and cannot show of it.
    pub vantage: &'static str,
}

/// Returns every rule that a finding can come from, in the order in which findings of the same severity are reported.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let kinds = [
        &tcp::RULES[..],
        &names::RULES,
        &suspect::RULES,
        &path::RULES,
        &echo::RULES,
        &link::RULES,
        &flood::RULES,
        &tls::RULES,
        &http::RULES,
        &datagrams::RULES,
    ];
    kinds.into_iter().flatten()
}

impl Rule {
    /// Tells whether it happened often enough.
    pub(super) fn meets(&self, count: u64, all: u64) -> bool {
        count >= self.at_least && count as f64 * 100.0 >= self.percent * all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_a_code_of_its_own() {
        let mut codes: Vec<&str> = rules().map(|rule| rule.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), rules().count());
    }
}
