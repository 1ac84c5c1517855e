//! Connections that stall or are cut: closed windows, silent ends, resets that a middlebox wrote.

use super::open::connections;
use crate::analyze::Pass;
use crate::findings::finding::{FindingList, field};
use crate::findings::finding::{Rule, Severity};
use crate::flow::{EndpointKey, EndpointStalls, reasons};
use crate::tcp::Reset;

/// A receiver takes nothing more.
pub(super) const ZERO_WINDOW: Rule = Rule {
    code: "tcp_zero_window",
    severity: Severity::Warning,
    at_least: 100,
    percent: 0.0,
    when: "an end kept its window closed for so many milliseconds at a stretch",
    vantage: "The application on that end does not read; the network has no part in it.",
};

/// An end of an open connection answers no more.
pub(super) const PEER_GONE: Rule = Rule {
    code: "tcp_peer_gone",
    severity: Severity::Warning,
    at_least: 4,
    percent: 0.0,
    when: "so many repetitions, keep-alives or probes at the end of open connections to which nothing came back",
    vantage: "The end is dead, or the path to it or back is: which one, a capture at that end shows.",
};

/// Finds them, by end.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    let mut worst: Vec<(&EndpointKey, &EndpointStalls)> = pass.flows.holds.iter().collect();
    worst.sort_by_key(|(_, hold)| std::cmp::Reverse(hold.gone.flows));
    for (end, hold) in &worst {
        let cases = &hold.gone;
        // Size explains it better than death.
        let large = pass
            .flows
            .pairs
            .iter()
            .any(|((_, to), pair)| *to == end.0 && super::transfer::too_large(pass, *to, pair).is_some());
        if large || pass.flows.vantage.one_direction || !PEER_GONE.meets(cases.packets, 0) {
            continue;
        }
        let title = format!(
            "{} fell silent in {}: {} repetitions and probes got no answer",
            name(**end),
            connections(cases.flows),
            cases.packets
        );
        let filter = format!(
            "(tcp.analysis.retransmission || tcp.analysis.keep_alive || tcp.analysis.zero_window_probe) && {}",
            side(**end, "dst")
        );
        let numbers = [("connections", cases.flows as f64), ("unanswered", cases.packets as f64)];
        found.add(&PEER_GONE, title, &cases.frames, filter, &numbers);
    }
    worst.sort_by(|(_, one), (_, other)| other.longest_ms.total_cmp(&one.longest_ms));
    for (end, hold) in worst {
        let cases = &hold.closed;
        if cases.flows == 0 || !ZERO_WINDOW.meets(hold.longest_ms as u64, 0) {
            continue;
        }
        let title = format!(
            "{} took nothing for {:.0} ms in all, {:.0} ms at a stretch: its window closed {} times in {}",
            name(*end),
            hold.total_ms,
            hold.longest_ms,
            cases.packets,
            connections(cases.flows)
        );
        let numbers = [
            ("connections", cases.flows as f64),
            ("periods", cases.packets as f64),
            ("total_ms", hold.total_ms.round()),
            ("longest_ms", hold.longest_ms.round()),
            ("probes", hold.probes as f64),
        ];
        let filter = format!("tcp.analysis.zero_window && {}", side(*end, "src"));
        found.add(&ZERO_WINDOW, title, &cases.frames, filter, &numbers);
    }
}

fn name((address, port): EndpointKey) -> String {
    port.map_or_else(|| address.to_string(), |port| std::net::SocketAddr::new(address, port).to_string())
}

fn side((address, port): EndpointKey, side: &str) -> String {
    let host = format!("{} == {address}", field(address, side));
    port.map_or_else(|| host.clone(), |port| format!("{host} && tcp.{side}port == {port}"))
}

/// Somebody else may have reset a connection.
pub(super) const RESET_FOREIGN: Rule = Rule {
    code: "tcp_reset_foreign",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections with a service were reset by a packet that is likely not its sender's: of 3 points, a time to \
           live 3 or more off gives 3 (less: 1), packets of the sender after it 3, a reset of the other end within a second 2, an \
           identification off the sender's counting 1, a number outside the window 1",
    vantage: "What does not fit its sender suggests a device in between; a reset that one wrote well seems real.",
};

/// Finds them, by service.
pub(super) fn find_foreign_resets(found: &mut FindingList, pass: &Pass) {
    let mut worst: Vec<_> = pass.flows.services.iter().filter(|(_, service)| service.cut.flows > 0).collect();
    worst.sort_by_key(|(_, service)| std::cmp::Reverse(service.cut.flows));
    for (at, service) in worst {
        let Some(reset) = service.reset.filter(|_| RESET_FOREIGN.meets(service.cut.flows, 0)) else {
            continue;
        };
        let title = format!(
            "resets of {} with {at} are likely not of their sender: {}",
            super::open::connections(service.cut.flows),
            because(&reset)
        );
        let mut numbers = vec![("connections", service.cut.flows as f64)];
        numbers.extend(reasons(&reset));
        let (address, port) = (at.ip(), at.port());
        let filter =
            format!("tcp.flags.reset == 1 && {} == {address} && tcp.port == {port}", field(address, "addr"));
        found.add(&RESET_FOREIGN, title, &service.cut.frames, filter, &numbers);
    }
}

fn because(reset: &Reset) -> String {
    let mut reasons = Vec::new();
    if reset.hops_off().is_some_and(|off| off > 0) {
        reasons.push(format!("time to live {} instead of {}", reset.hops.1, reset.hops.0));
    }
    if reset.packets_after > 0 {
        reasons.push("the sender went on afterwards".to_owned());
    }
    if reset.both() {
        reasons.push("both ends were reset at once".to_owned());
    }
    if let Some(off) = reset.id_off.filter(|off| *off > 256) {
        reasons.push(format!("its identification is {off} off"));
    }
    if reset.seq_off.is_some_and(|off| off != 0) && !reset.in_window {
        reasons.push("its number is outside the window".to_owned());
    }
    reasons.join(", ")
}
