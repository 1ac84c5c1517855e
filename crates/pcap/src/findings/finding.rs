//! Findings and rules: codes, thresholds, severity, evidence.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use super::{datagrams, echo, flood, http, link, names, path, suspect, tcp, tls};
use crate::analyze::Pass;
use crate::flow::State;

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

/// How many findings are reported, and how many of one rule.
const MAX_FINDINGS_OF_RULE: usize = 12;
const MOST_OF_ONE: usize = 3;
/// What too large packets, a refusal, a full receiver or a bad path look like from afar.
const SYMPTOMS: [&str; 3] = ["tcp_retransmission", "tcp_rto_backoff", "tcp_gaps"];

/// Finds what is wrong, and says how much of that is left out. Needs a pass whose waiting has ended.
///
/// The worst severity comes first. Of one severity, what others may explain stands behind what may explain it; then comes the order of
/// the rules and, within a rule, what happened most often.
pub(crate) fn find(pass: &Pass) -> (Vec<Finding>, u64) {
    let mut found = FindingList {
        most: if pass.scope.full { usize::MAX } else { MOST_OF_ONE },
        list: Vec::new(),
        left_out: 0,
    };
    tcp::find(&mut found, pass);
    names::find(&mut found, pass);
    suspect::find(&mut found, pass);
    path::find(&mut found, pass);
    echo::find(&mut found, pass);
    link::find(&mut found, pass);
    tls::find(&mut found, pass);
    http::find(&mut found, pass);
    datagrams::find(&mut found, pass);
    flood::find(&mut found, pass);
    found.list.sort_by_key(|finding| (finding.severity, SYMPTOMS.contains(&finding.code)));
    let most = if pass.scope.full { usize::MAX } else { MAX_FINDINGS_OF_RULE };
    found.left_out += found.list.len().saturating_sub(most) as u64;
    found.list.truncate(most);
    (found.list, found.left_out)
}

/// What was found so far.
pub(super) struct FindingList {
    most: usize,
    list: Vec<Finding>,
    left_out: u64,
}

impl FindingList {
    /// Adds a finding, unless there are enough of its rule.
    pub(super) fn add(
        &mut self,
        rule: &Rule,
        title: String,
        frames: &[u64],
        filter: String,
        numbers: &[(&'static str, f64)],
    ) {
        self.add_with(rule, rule.severity, title, frames, filter, numbers);
    }

    /// Adds a finding that is less bad than its rule says, for a reason that the rule names.
    pub(super) fn add_with(
        &mut self,
        rule: &Rule,
        severity: Severity,
        title: String,
        frames: &[u64],
        filter: String,
        numbers: &[(&'static str, f64)],
    ) {
        if self.list.iter().filter(|finding| finding.code == rule.code).count() >= self.most {
            self.left_out += 1;
            return;
        }
        self.list.push(Finding {
            code: rule.code,
            severity,
            title,
            evidence: Evidence {
                frames: frames.to_vec(),
                filter,
                numbers: numbers.iter().copied().collect(),
            },
            vantage: rule.vantage,
        });
    }
}

/// Returns the name of a field of the address's family: `ip.src`, `ipv6.dst`.
pub(super) fn field(address: IpAddr, side: &str) -> String {
    format!("{}.{side}", if address.is_ipv4() { "ip" } else { "ipv6" })
}

/// Returns how often, in words.
pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

/// Tells whether this capture shows one direction alone, so that nobody can be blamed for not answering.
pub(super) fn unidirectional(pass: &Pass) -> bool {
    let silent = pass.flows.states.get(&State::Unidirectional).copied().unwrap_or(0);
    silent >= 3 && silent * 5 >= pass.flows.streams * 4
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
