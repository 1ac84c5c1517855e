//! The path: what routers and hosts complain about, and packets that run in a circle.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::finding::{FindingList, field, times};
use super::finding::{Rule, Severity};
use crate::analyze::Pass;
use crate::flow::State;
use crate::icmp::{IcmpError, IcmpErrorCounts, QuotedErrors, Router, name};

/// Somebody says that something cannot be reached.
const UNREACHABLE: Rule = Rule {
    code: "icmp_unreachable",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "the same sender says so often within a minute that the same destination cannot be reached",
    vantage: "Errors can be forged, and many devices send none: that there are few says nothing.",
};

/// Packets are too large for the path, and stay so.
const PMTU: Rule = Rule {
    code: "pmtu_blackhole",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many packets are still too large, or called so, 200 ms after a router first said so",
    vantage: "The source does not obey, or never gets the errors; a capture at the source tells which.",
};

/// Packets were too large, and the source learned.
const PATH_MTU: Rule = Rule {
    code: "path_mtu",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "a router says that packets are too large, and few larger ones follow",
    vantage: "Shows the smallest next hop of which a router complained here; a later hop may be smaller still.",
};

/// Packets run in a circle, says a router.
const LOOP: Rule = Rule {
    code: "routing_loop",
    severity: Severity::Warning,
    at_least: 5,
    percent: 0.0,
    when: "one router alone says so often that packets to the same destination ran out of hops, and nothing resembles a traceroute",
    vantage: "A ping with a small time to live on purpose gives the same picture; a capture on the router's links shows the circle itself.",
};

/// Packets run in a circle, and pass here.
const CIRCLE: Rule = Rule {
    code: "forwarding_loop",
    severity: Severity::Critical,
    at_least: 1,
    percent: 0.0,
    when: "so many packets passed six times or more, each time with fewer hops left",
    vantage: "The same packet passes here again and again: the circle includes this link.",
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
pub(super) const RULES: [Rule; 6] = [CIRCLE, UNREACHABLE, PMTU, LOOP, REDIRECT, PATH_MTU];

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    routing_loops(found, pass);
    icmp_errors(found, pass);
    limits(found, pass);
    loops(found, pass);
}

fn icmp_errors(found: &mut FindingList, pass: &Pass) {
    let mut worst: Vec<(&IcmpError, &IcmpErrorCounts)> = pass.icmp.errors.iter().collect();
    worst.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.count));
    for (icmp_error, counts) in worst {
        let IcmpError { six, kind, code, from, about, port, gateway } = *icmp_error;
        let meaning = name(six, kind, code);
        let mut numbers = vec![("errors", counts.count as f64)];
        let shown = format!("{} && {} == {about}", filter_of(icmp_error), field(about, "dst"));
        if icmp_error.redirect() && REDIRECT.meets(counts.count, 0) {
            let other = gateway.map_or_else(|| "another router".to_owned(), |gateway| gateway.to_string());
            let title = format!("{from} says {} that {other} is nearer to {about}", times(counts.count));
            // Version 6 names the destination where this filter does not look.
            let shown = if six { filter_of(icmp_error) } else { shown };
            found.add(&REDIRECT, title, &counts.frames, shown, &numbers);
        } else if icmp_error.unreachable() && !too_large(icmp_error) && UNREACHABLE.meets(counts.dense, 0) {
            let place =
                port.map_or_else(|| about.to_string(), |port| SocketAddr::new(about, port).to_string());
            let became = port
                .map(|port| became(&pass.icmp.quoted, icmp_error, SocketAddr::new(about, port), &mut numbers))
                .unwrap_or_default();
            let title = format!(
                "{from} says {} that {place} cannot be reached: {meaning}{became}",
                times(counts.count)
            );
            found.add(&UNREACHABLE, title, &counts.frames, shown, &numbers);
        }
    }
}

/// Says what became of the connections that the errors quote.
fn became(
    quoted: &QuotedErrors,
    icmp_error: &IcmpError,
    to: SocketAddr,
    numbers: &mut Vec<(&'static str, f64)>,
) -> String {
    let flows = quoted.to(icmp_error.from, (icmp_error.six, icmp_error.kind, icmp_error.code), to);
    let Some(((client, _), first)) = flows.first() else {
        return String::new();
    };
    numbers.push(("connections", flows.len() as f64));
    let state = match first.state {
        None => "were not seen here",
        Some(State::SynSent | State::Filtered) if filtered(icmp_error) => {
            "was filtered there: no SYN was answered"
        }
        Some(State::SynSent | State::Filtered | State::Unreachable) => "was never answered",
        Some(State::Refused) => "was refused",
        Some(State::HalfOpen) => "stayed half open",
        Some(State::Established | State::Closing | State::Closed) => "came about all the same",
        Some(State::Reset) => "was reset",
        Some(State::Unidirectional) => "shows one direction alone",
    };
    if first.state.is_none() {
        return String::new();
    }
    let others = if flows.len() > 1 { format!(" (and {} others)", flows.len() - 1) } else { String::new() };
    format!("; the connection from {client}{others} {state}")
}

/// Tells whether a complaint comes from somebody who keeps packets out.
fn filtered(icmp_error: &IcmpError) -> bool {
    match (icmp_error.six, icmp_error.kind) {
        (false, 3) => matches!(icmp_error.code, 9 | 10 | 13),
        (true, 1) => matches!(icmp_error.code, 1 | 5 | 6),
        _ => false,
    }
}

fn too_large(icmp_error: &IcmpError) -> bool {
    matches!((icmp_error.six, icmp_error.kind, icmp_error.code), (false, 3, 4) | (true, 2, _))
}

fn limits(found: &mut FindingList, pass: &Pass) {
    let mut worst: Vec<_> = pass.icmp.limits.paths.iter().collect();
    worst.sort_by_key(|(net, limit)| {
        (std::cmp::Reverse((limit.ignored(), limit.count)), net.source(), net.destination())
    });
    for (net, limit) in worst {
        let (source, destination) = (net.source(), net.destination());
        let kind =
            if destination.is_ipv4() { "icmp.type == 3 && icmp.code == 4" } else { "icmpv6.type == 2" };
        let [from, to] = [field(source, "src"), field(destination, "dst")];
        let filter = format!("{kind} && {from} == {source} && {to} == {destination}");
        let mtu = if limit.mtu > 0 { format!("{} bytes", limit.mtu) } else { "an unnamed size".to_owned() };
        let numbers = [
            ("errors", limit.count as f64),
            ("mtu", f64::from(limit.mtu)),
            ("late_errors", limit.late as f64),
            ("large_packets", limit.large as f64),
        ];
        let who = limit.from;
        let (rule, title) = if PMTU.meets(limit.ignored(), 0) {
            let what = format!("{who} takes {mtu} at most from {source} to {destination}");
            (&PMTU, format!("{what}, yet {} more were too large", limit.ignored()))
        } else if PATH_MTU.meets(limit.count, 0) {
            (
                &PATH_MTU,
                format!("{who} takes {mtu} at most from {source} to {destination}; nothing larger followed"),
            )
        } else {
            continue;
        };
        found.add(rule, title, &limit.frames, filter, &numbers);
    }
}

fn loops(found: &mut FindingList, pass: &Pass) {
    let mut by: BTreeMap<(IpAddr, IpAddr), (u64, u64, Router)> = BTreeMap::new();
    let unwanted = pass.icmp.traces.paths.iter().filter(|(_, trace)| !trace.wanted());
    for (net, trace) in unwanted {
        for router in &trace.routers {
            let entry = by
                .entry((router.address, net.destination()))
                .or_insert_with(|| (0, 0, Router { address: router.address, count: 0, frames: Vec::new() }));
            entry.0 += router.count;
            entry.1 += 1;
            entry.2.frames.extend(&router.frames);
        }
    }
    let mut worst: Vec<_> = by.into_iter().filter(|(_, (count, ..))| LOOP.meets(*count, 0)).collect();
    worst.sort_by_key(|(pair, (count, ..))| (std::cmp::Reverse(*count), *pair));
    for ((router, destination), (count, sources, mut seen)) in worst {
        seen.frames.sort_unstable();
        seen.frames.truncate(5);
        let (kind, from) = if router.is_ipv4() {
            ("icmp.type == 11 && icmp.code == 0", "ip.src")
        } else {
            ("icmpv6.type == 3 && icmpv6.code == 0", "ipv6.src")
        };
        let to = field(destination, "dst");
        let filter = format!("{kind} && {from} == {router} && {to} == {destination}");
        let title = format!("packets to {destination} ran out of hops at {router} {}", times(count));
        let numbers = [("errors", count as f64), ("sources", sources as f64)];
        found.add(&LOOP, title, &seen.frames, filter, &numbers);
    }
}

fn routing_loops(found: &mut FindingList, pass: &Pass) {
    let mut worst: Vec<_> = pass.routing_loops.seen.iter().collect();
    worst.sort_by_key(|(pair, circle)| (std::cmp::Reverse(circle.packets), **pair));
    for ((source, destination), circle) in worst {
        if !CIRCLE.meets(circle.packets, 0) {
            continue;
        }
        let [from, to] = [field(*source, "src"), field(*destination, "dst")];
        let id = circle.id.map(|id| format!(" && ip.id == {id}")).unwrap_or_default();
        let filter = format!("{from} == {source} && {to} == {destination}{id}");
        let title = format!(
            "{} packets from {source} to {destination} run in a circle: down to {} hops left",
            circle.packets, circle.min_hops
        );
        let numbers = [
            ("packets", circle.packets as f64),
            ("passes", circle.passes as f64),
            ("least_hops", f64::from(circle.min_hops)),
        ];
        found.add(&CIRCLE, title, &circle.frames, filter, &numbers);
    }
}

/// Returns a filter for errors of a kind by their sender.
fn filter_of(icmp_error: &IcmpError) -> String {
    let IcmpError { six, kind, code, from, .. } = *icmp_error;
    let name = if six { "icmpv6" } else { "icmp" };
    format!("{name}.type == {kind} && {name}.code == {code} && {} == {from}", field(from, "src"))
}
