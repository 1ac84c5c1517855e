//! Evaluates all rules, and builds the display filters that findings share.

use std::net::IpAddr;

use super::finding::{Evidence, Finding, Rule, Severity};
use super::{datagrams, echo, flood, http, link, names, path, suspect, tcp, tls};
use crate::analyze::Pass;
use crate::flow::State;

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
