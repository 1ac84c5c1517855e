//! Connections: what opens, breaks, stalls or repeats.

use std::net::SocketAddr;

use super::filter::field;
use super::find::Found;
use super::finding::Severity;
use super::rule::Rule;
use crate::pcap::analyze::Pass;
use crate::pcap::label::Label;

/// A service does not answer.
const SYN_UNANSWERED: Rule = Rule {
    code: "syn_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many SYNs to a service in connections to which nothing came back",
    vantage: "Nothing passed here on the way back; whether the SYN arrived, only a capture at the other end shows.",
};

/// A service refuses.
const TCP_REFUSED: Rule = Rule {
    code: "tcp_refused",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections to a service were answered with RST",
    vantage: "The RST came from the address of the service; a device in between can write one just as well.",
};

/// Somebody else may have reset a connection.
const RESET_FOREIGN: Rule = Rule {
    code: "tcp_reset_foreign",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections were reset by a packet whose time to live is 3 or more off that of its sender's others",
    vantage: "Another way to here suggests a device in between; a reset that it wrote with the right hops looks real.",
};

/// Data was sent again.
const RETRANSMISSION: Rule = Rule {
    code: "tcp_retransmission",
    severity: Severity::Warning,
    at_least: 3,
    percent: 1.0,
    when: "so many packets, and so much of all that carried something, were sent again",
    vantage: "Both copies passed here or the first was lost before; where it was lost, a capture at the other end shows.",
};

/// A receiver takes nothing more.
const ZERO_WINDOW: Rule = Rule {
    code: "tcp_zero_window",
    severity: Severity::Warning,
    at_least: 2,
    percent: 0.0,
    when: "so many packets announce a window of nothing",
    vantage: "The application on that end does not read; the network has no part in it.",
};

/// Something is missing from the capture.
const GAPS: Rule = Rule {
    code: "tcp_gaps",
    severity: Severity::Info,
    at_least: 3,
    percent: 0.0,
    when: "so many segments follow a gap",
    vantage: "Lost before this point, or dropped by the capture itself: the next capture, with a larger buffer, tells.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 6] =
    [SYN_UNANSWERED, TCP_REFUSED, RESET_FOREIGN, RETRANSMISSION, ZERO_WINDOW, GAPS];

/// Finds what is wrong.
pub(super) fn find(found: &mut Found, pass: &Pass) {
    services(found, pass);
    resets(found, pass);
    segments(found, pass);
}

fn services(found: &mut Found, pass: &Pass) {
    let kinds = [(&SYN_UNANSWERED, &pass.flows.silent), (&TCP_REFUSED, &pass.flows.refused)];
    for (rule, services) in kinds {
        let mut worst: Vec<_> = services.iter().collect();
        worst.sort_by_key(|(_, failures)| std::cmp::Reverse(failures.flows));
        for (service, failures) in worst {
            let silent = rule.code == SYN_UNANSWERED.code;
            let count = if silent { failures.syns } else { failures.flows };
            if !rule.meets(count, 0) {
                continue;
            }
            let title = if silent {
                format!("{service} did not answer {} SYNs of {} connections", failures.syns, failures.flows)
            } else {
                format!("{service} refused {} connections", failures.flows)
            };
            let numbers = [("connections", failures.flows as f64), ("syns", failures.syns as f64)];
            found.add(rule, title, &failures.frames, syns_to(*service), &numbers);
        }
    }
}

fn resets(found: &mut Found, pass: &Pass) {
    let (count, first) = &pass.flows.foreign;
    let Some(one) = first.first().filter(|_| RESET_FOREIGN.meets(*count, 0)) else {
        return;
    };
    let title = format!(
        "{count} connections were reset by packets that took another way (time to live {} instead of {})",
        one.hops, one.usual
    );
    // One kind is shown: others have a time to live of their own.
    let frames: Vec<u64> =
        first.iter().filter(|other| other.hops == one.hops).map(|other| other.frame).collect();
    let filter = format!("tcp.flags.reset == 1 && (ip.ttl == {0} || ipv6.hlim == {0})", one.hops);
    let numbers =
        [("connections", *count as f64), ("hops", f64::from(one.hops)), ("usual_hops", f64::from(one.usual))];
    found.add(&RESET_FOREIGN, title, &frames, filter, &numbers);
}

fn segments(found: &mut Found, pass: &Pass) {
    let flows = &pass.flows;
    let kinds = [
        (&RETRANSMISSION, Label::Retransmission, "packets were sent again"),
        (&ZERO_WINDOW, Label::ZeroWindow, "packets say that their sender takes nothing more"),
        (&GAPS, Label::LostSegment, "segments follow a gap"),
    ];
    for (rule, label, what) in kinds {
        let count = pass.counts.of(label);
        if rule.meets(count, flows.carrying) {
            let part = crate::pcap::flow::percent(count, flows.carrying);
            let numbers = [("packets", count as f64), ("percent", part)];
            let filter = format!("tcp.analysis.{}", label.name());
            found.add(rule, format!("{count} {what}"), &pass.counts.first_frames(label), filter, &numbers);
        }
    }
}

fn syns_to(service: SocketAddr) -> String {
    let (address, port) = (service.ip(), service.port());
    format!("tcp.flags.syn == 1 && {} == {address} && tcp.dstport == {port}", field(address, "dst"))
}
