//! Services that cannot be reached: four outcomes of a SYN that opens no connection.

use std::net::SocketAddr;

use crate::analyze::Pass;
use crate::findings::finding::{FindingList, field};
use crate::findings::finding::{Rule, Severity};
use crate::flow::{FlowCases, ServiceOutcomes};

/// A service does not answer.
pub(super) const SYN_UNANSWERED: Rule = Rule {
    code: "syn_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many SYNs to a service in connections to which nothing came back, no error either",
    vantage: "Nothing passed here on the return path; whether the SYN arrived, only a capture at the other end shows.",
};

/// A filter says that it forbids a connection.
pub(super) const FILTERED: Rule = Rule {
    code: "tcp_filtered",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections whose SYN an ICMP error quotes that says a filter forbids it",
    vantage: "The error names who sent it: the filter is there, or the service's own. Errors can be forged.",
};

/// A router says that there is no route.
pub(super) const NO_ROUTE: Rule = Rule {
    code: "tcp_unreachable",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections whose SYN an ICMP error quotes that says there is no route",
    vantage: "The router that sent the error was the last that the SYN reached. Errors can be forged.",
};

/// A service refuses.
pub(super) const REFUSED: Rule = Rule {
    code: "tcp_refused",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many connections to a service were answered with RST; fewer are an info",
    vantage: "The RST came from the address of the service; a device in between can write one just as well.",
};

/// A service's answer does not arrive.
pub(super) const SYN_ACK_UNANSWERED: Rule = Rule {
    code: "syn_ack_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many SYN-ACKs of a service in connections in which nothing acknowledges them",
    vantage: "The SYN arrived; the answer is lost behind this point, or whoever asked never meant to go on (a scan, a flood).",
};

/// Finds services that cannot be reached.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    // Where only one direction passes, no answer is no sign.
    let one_direction = pass.flows.vantage.one_direction;
    worst(
        pass,
        |service| &service.silent,
        |at, service| {
            let muted = one_direction || (service.unidirectional > 0 && service.answered == 0);
            let cases = &service.silent;
            if muted || !SYN_UNANSWERED.meets(cases.packets, 0) {
                return;
            }
            let title = format!("{at} did not answer {} SYNs of {}", cases.packets, connections(cases.flows));
            let numbers = [
                ("connections", cases.flows as f64),
                ("syns", cases.packets as f64),
                ("answered", service.answered as f64),
            ];
            found.add(&SYN_UNANSWERED, title, &cases.frames, syns(at, ""), &numbers);
        },
    );
    rejection(found, pass);
    worst(
        pass,
        |service| &service.refused,
        |at, service| {
            let cases = &service.refused;
            if cases.flows > 0 {
                let few = !REFUSED.meets(cases.flows, 0);
                let severity = if few { Severity::Info } else { REFUSED.severity };
                let title = format!("{at} refused {}", connections(cases.flows));
                let numbers = [
                    ("connections", cases.flows as f64),
                    ("syns", cases.packets as f64),
                    ("answered", service.answered as f64),
                ];
                let filter = format!(
                    "(tcp.flags.syn == 1 || tcp.flags.reset == 1) && {} == {} && tcp.port == {}",
                    field(at.ip(), "addr"),
                    at.ip(),
                    at.port()
                );
                found.add_with(&REFUSED, severity, title, &cases.frames, filter, &numbers);
            }
        },
    );
    worst(
        pass,
        |service| &service.half_open,
        |at, service| {
            let cases = &service.half_open;
            if SYN_ACK_UNANSWERED.meets(cases.packets, 0) {
                let asked = connections(cases.flows);
                let title =
                    format!("{at} answered {asked} with {} SYN-ACKs that nobody acknowledged", cases.packets);
                let numbers = [("connections", cases.flows as f64), ("syn_acks", cases.packets as f64)];
                let filter = format!(
                    "tcp.flags.syn == 1 && ({} == {} && tcp.port == {})",
                    field(at.ip(), "addr"),
                    at.ip(),
                    at.port()
                );
                found.add(&SYN_ACK_UNANSWERED, title, &cases.frames, filter, &numbers);
            }
        },
    );
}

/// Finds services that somebody on the path says cannot be reached.
fn rejection(found: &mut FindingList, pass: &Pass) {
    for (rule, what) in [(&FILTERED, "a filter forbids"), (&NO_ROUTE, "there is no route for")] {
        let filtered = rule.code == FILTERED.code;
        let pick = |service: &ServiceOutcomes| {
            if filtered { service.filtered.clone() } else { service.unreachable.clone() }
        };
        for (at, service) in ranked(pass, |service| pick(service).flows) {
            let cases = pick(service);
            let Some(rejection) = service.rejection.filter(|_| rule.meets(cases.flows, 0)) else {
                continue;
            };
            let (kind, code) = (rejection.kind, rejection.code);
            let title = format!(
                "{} says that {what} {} to {at} (type {kind}, code {code})",
                rejection.from,
                connections(cases.flows)
            );
            let numbers = [
                ("connections", cases.flows as f64),
                ("syns", cases.packets as f64),
                ("type", f64::from(kind)),
                ("code", f64::from(code)),
                ("answered", service.answered as f64),
            ];
            let mut frames = cases.frames.clone();
            if !frames.contains(&rejection.frame) {
                frames.insert(1.min(frames.len()), rejection.frame);
            }
            frames.truncate(5);
            let name = if at.is_ipv6() { "icmpv6" } else { "icmp" };
            found.add(rule, title, &frames, syns(*at, &format!(" || {name}.type == {kind}")), &numbers);
        }
    }
}

fn worst<'a>(
    pass: &'a Pass,
    pick: impl Fn(&ServiceOutcomes) -> &FlowCases,
    mut tell: impl FnMut(SocketAddr, &'a ServiceOutcomes),
) {
    for (at, service) in ranked(pass, |service| pick(service).flows) {
        tell(*at, service);
    }
}

/// Returns the services with the most connections of a kind first, those without left out.
fn ranked(pass: &Pass, count: impl Fn(&ServiceOutcomes) -> u64) -> Vec<(&SocketAddr, &ServiceOutcomes)> {
    let mut all: Vec<_> = pass.flows.services.iter().filter(|(_, service)| count(service) > 0).collect();
    all.sort_by_key(|(_, service)| std::cmp::Reverse(count(service)));
    all
}

/// Says how many connections, in words.
pub(super) fn connections(count: u64) -> String {
    if count == 1 { "1 connection".to_owned() } else { format!("{count} connections") }
}

fn syns(service: SocketAddr, or: &str) -> String {
    let (address, port) = (service.ip(), service.port());
    let asks =
        if or.is_empty() { "tcp.flags.syn == 1".to_owned() } else { format!("(tcp.flags.syn == 1{or})") };
    format!("{asks} && {} == {address} && tcp.dstport == {port}", field(address, "dst"))
}
