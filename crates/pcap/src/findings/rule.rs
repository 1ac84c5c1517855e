//! What a rule is, and the table of all: what findings are called, from when on they are made, how bad they are.

use serde::Serialize;

use super::finding::Severity;
use super::{datagrams, echo, flood, http, link, names, path, suspect, tcp, tls};

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

/// Returns every rule that a finding can come from, in the order in which findings of the same severity are told.
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
    /// Says whether it happened often enough.
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
