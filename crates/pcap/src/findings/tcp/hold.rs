//! Ends that hold connections up: closed windows, and silence.

use super::open::connections;
use crate::analyze::Pass;
use crate::findings::filter::field;
use crate::findings::find::Found;
use crate::findings::finding::Severity;
use crate::findings::rule::Rule;
use crate::flow::{End, Hold};

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
    vantage: "The end is dead, or the way to it or back is: which one, a capture at that end shows.",
};

/// Finds them, by end.
pub(super) fn find(found: &mut Found, pass: &Pass) {
    let mut worst: Vec<(&End, &Hold)> = pass.flows.holds.iter().collect();
    worst.sort_by_key(|(_, hold)| std::cmp::Reverse(hold.gone.flows));
    for (end, hold) in &worst {
        let cases = &hold.gone;
        // Size explains it better than death.
        let large = pass
            .flows
            .pairs
            .iter()
            .any(|((_, to), pair)| *to == end.0 && super::carry::too_large(pass, *to, pair).is_some());
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

fn name((address, port): End) -> String {
    port.map_or_else(|| address.to_string(), |port| std::net::SocketAddr::new(address, port).to_string())
}

fn side((address, port): End, side: &str) -> String {
    let host = format!("{} == {address}", field(address, side));
    port.map_or_else(|| host.clone(), |port| format!("{host} && tcp.{side}port == {port}"))
}
