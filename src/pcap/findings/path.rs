//! The way: what routers and hosts complain about.

use std::net::SocketAddr;

use super::filter::field;
use super::find::Found;
use super::finding::Severity;
use super::rule::Rule;
use crate::pcap::analyze::Pass;
use crate::pcap::icmp::{Complaint, Heard};

/// Somebody says that something cannot be reached.
const UNREACHABLE: Rule = Rule {
    code: "icmp_unreachable",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "the same sender says so often that the same destination cannot be reached",
    vantage: "Errors can be forged, and many devices send none: that there are few says nothing.",
};

/// Packets are too large for the path, and stay so.
const PMTU: Rule = Rule {
    code: "pmtu_blackhole",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "the same router says so often that packets to the same destination are too large",
    vantage: "Repeated errors mean that the sender does not obey, or never gets them; a capture at the sender tells which.",
};

/// Packets run in a circle.
const LOOP: Rule = Rule {
    code: "routing_loop",
    severity: Severity::Warning,
    at_least: 5,
    percent: 0.0,
    when: "the same router says so often that packets to the same destination and port have come too far",
    vantage: "A trace of the route makes such errors on purpose, though seldom so many by one router about one port.",
};

/// A router knows a better one.
const REDIRECT: Rule = Rule {
    code: "icmp_redirect",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "so many redirects by the same router about the same destination",
    vantage: "Shows what the router says; whether the host obeys, its next packets show.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 4] = [UNREACHABLE, PMTU, LOOP, REDIRECT];

/// Finds what is wrong.
pub(super) fn find(found: &mut Found, pass: &Pass) {
    let mut worst: Vec<(&Complaint, &Heard)> = pass.icmp.complaints.iter().collect();
    worst.sort_by_key(|(_, heard)| std::cmp::Reverse(heard.count));
    for (complaint, heard) in worst {
        let Some((rule, what)) = meaning(complaint).filter(|(rule, _)| rule.meets(heard.count, 0)) else {
            continue;
        };
        let about = complaint.port.map_or_else(
            || complaint.about.to_string(),
            |port| SocketAddr::new(complaint.about, port).to_string(),
        );
        let (kind, code) = (complaint.kind, complaint.code);
        let title = format!(
            "{} says {} times that {about} {what} (type {kind}, code {code})",
            complaint.from, heard.count
        );
        let name = if complaint.six { "icmpv6" } else { "icmp" };
        let filter = format!(
            "{name}.type == {kind} && {name}.code == {code} && {} == {}",
            field(complaint.from, "src"),
            complaint.from
        );
        let mut numbers = vec![("errors", heard.count as f64)];
        if heard.mtu > 0 {
            numbers.push(("mtu", f64::from(heard.mtu)));
        }
        found.add(rule, title, &heard.frames, filter, &numbers);
    }
}

/// Returns what a complaint says of the destination that it is about.
fn meaning(complaint: &Complaint) -> Option<(&'static Rule, &'static str)> {
    match (complaint.six, complaint.kind, complaint.code) {
        (false, 3, 4) | (true, 2, _) => Some((&PMTU, "gets packets that are too large for the way")),
        (false, 3, _) | (true, 1, _) => Some((&UNREACHABLE, "cannot be reached")),
        (false, 11, 0) | (true, 3, 0) => Some((&LOOP, "is too far away")),
        (false, 5, _) => Some((&REDIRECT, "is nearer by another router")),
        _ => None,
    }
}
