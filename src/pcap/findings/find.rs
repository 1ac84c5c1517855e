//! From what was remembered to what is wrong.

use super::finding::{Evidence, Finding};
use super::rule::Rule;
use super::{datagrams, http, link, names, path, tcp, tls};
use crate::pcap::analyze::Pass;

/// How many findings are told, and how many of one rule.
const MOST: usize = 12;
const MOST_OF_ONE: usize = 3;

/// Finds what is wrong, the worst first. Needs a pass whose waiting has ended.
pub(in crate::pcap) fn find(pass: &Pass) -> Vec<Finding> {
    let mut found = Found { most: if pass.scope.full { usize::MAX } else { MOST_OF_ONE }, list: Vec::new() };
    tcp::find(&mut found, pass);
    names::find(&mut found, pass);
    path::find(&mut found, pass);
    link::find(&mut found, pass);
    tls::find(&mut found, pass);
    http::find(&mut found, pass);
    datagrams::find(&mut found, pass);
    found.list.sort_by_key(|finding| finding.severity);
    found.list.truncate(if pass.scope.full { usize::MAX } else { MOST });
    found.list
}

/// What was found so far.
pub(super) struct Found {
    most: usize,
    list: Vec<Finding>,
}

impl Found {
    /// Adds a finding, unless there are enough of its rule.
    pub(super) fn add(
        &mut self,
        rule: &Rule,
        title: String,
        frames: &[u64],
        filter: String,
        numbers: &[(&'static str, f64)],
    ) {
        if self.list.iter().filter(|finding| finding.code == rule.code).count() >= self.most {
            return;
        }
        self.list.push(Finding {
            code: rule.code,
            severity: rule.severity,
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
