//! Matches the findings of two captures by code and subject.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use crate::findings::{Finding, Severity};

/// Ports from here on are chosen anew for each connection.
const FIRST_EPHEMERAL_PORT: u16 = 32_768;

/// A finding that one capture has, and what it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedFinding {
    /// Its name.
    pub code: &'static str,
    /// The addresses and services that it is about; empty where it is about the whole capture.
    pub subject: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub title: String,
    /// A display filter that shows it.
    pub filter: String,
}

/// Findings of two captures.
#[derive(Debug, Clone, Default)]
pub(super) struct FindingDiff {
    /// The second alone has them.
    pub(super) new: Vec<ComparedFinding>,
    /// The first alone.
    pub(super) resolved: Vec<ComparedFinding>,
    /// Both, as the second one has them.
    pub(super) persisting: Vec<ComparedFinding>,
}

/// Sorts the findings of two captures by code and subject.
pub(super) fn sorted(a: &[Finding], b: &[Finding]) -> FindingDiff {
    let (before, now) = (noted(a), noted(b));
    let keys = |list: &[ComparedFinding]| -> BTreeSet<(&'static str, String)> {
        list.iter().map(|one| (one.code, one.subject.clone())).collect()
    };
    let (known, left) = (keys(&before), keys(&now));
    let (persisting, new) = now.into_iter().partition(|one| known.contains(&(one.code, one.subject.clone())));
    let resolved =
        before.into_iter().filter(|one| !left.contains(&(one.code, one.subject.clone()))).collect();
    FindingDiff { new, resolved, persisting }
}

fn noted(findings: &[Finding]) -> Vec<ComparedFinding> {
    let mut met = BTreeSet::new();
    findings
        .iter()
        .map(|finding| ComparedFinding {
            code: finding.code,
            subject: subject(finding),
            severity: finding.severity,
            title: finding.title.clone(),
            filter: finding.evidence.filter.clone(),
        })
        .filter(|one| met.insert((one.code, one.subject.clone())))
        .collect()
}

/// Returns the addresses and services that a title names, else those of its filter.
fn subject(finding: &Finding) -> String {
    let named = |text: &str| -> BTreeSet<String> {
        text.split(|char: char| !(char.is_ascii_alphanumeric() || ".:[]".contains(char)))
            .filter_map(|word| name(word.trim_matches(['.', ':'])))
            .collect()
    };
    let mut found = named(&finding.title);
    if found.is_empty() {
        found = named(&finding.evidence.filter);
    }
    found.into_iter().collect::<Vec<_>>().join(" ")
}

/// Reads an address or a service; a port that is chosen anew for each connection is left out.
fn name(word: &str) -> Option<String> {
    if let Ok(address) = word.parse::<IpAddr>() {
        return Some(address.to_string());
    }
    let socket: SocketAddr = word.parse().ok()?;
    Some(if socket.port() >= FIRST_EPHEMERAL_PORT { socket.ip().to_string() } else { socket.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Evidence;

    fn finding(title: &str) -> Finding {
        let evidence = Evidence {
            frames: vec![1],
            filter: "tcp".to_owned(),
            numbers: std::collections::BTreeMap::new(),
        };
        Finding { code: "x", severity: Severity::Warning, title: title.to_owned(), evidence, vantage: "" }
    }

    #[test]
    fn other_figures_and_other_ports_of_clients_make_no_other_finding() {
        let (a, b) = (
            [finding("10.0.0.1:40001 to 10.0.0.2:80: 7 again")],
            [finding("10.0.0.1:50001 to 10.0.0.2:80: 9 again")],
        );
        let sorted = sorted(&a, &b);
        assert!(sorted.new.is_empty() && sorted.resolved.is_empty());
        assert_eq!(sorted.persisting.first().unwrap().subject, "10.0.0.1 10.0.0.2:80");
    }

    #[test]
    fn the_same_trouble_of_another_host_is_new() {
        let sorted =
            sorted(&[finding("10.0.0.2:80 did not answer")], &[finding("[2001:db8::2]:80 did not answer.")]);
        assert_eq!(sorted.new.first().unwrap().subject, "[2001:db8::2]:80");
        assert_eq!(sorted.resolved.first().unwrap().subject, "10.0.0.2:80");
    }
}
