//! Retransmissions, backoff, lost large segments, window limits.

use std::net::IpAddr;

use super::open::connections;
use crate::analyze::Pass;
use crate::findings::finding::{FindingList, field};
use crate::findings::finding::{Rule, Severity};
use crate::flow::{HostPair, MtuBlackHole, percent};
use crate::icmp::{IcmpError, IcmpErrorCounts};

/// Data was sent again.
pub(super) const RETRANSMISSION: Rule = Rule {
    code: "tcp_retransmission",
    severity: Severity::Warning,
    at_least: 3,
    percent: 1.0,
    when: "so many packets from one host to another, and so much of all that carried something, were sent again; copies that \
           the capture made and what the receiver had already are left out",
    vantage: "A gap that a repetition filled was lost before this point, what was seen twice behind it: both are counted.",
};

/// The same segment again and again.
pub(super) const BACKOFF: Rule = Rule {
    code: "tcp_rto_backoff",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many repetitions of the same segments after pauses that double",
    vantage: "A timer ran out each time: nothing that was sent after the loss came through either, or nothing was sent.",
};

/// Large segments do not pass.
pub(super) const LARGE_LOST: Rule = Rule {
    code: "tcp_large_lost",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many repetitions of segments larger than any that was acknowledged between the same hosts, while the receiver \
           still speaks, the sender goes on with smaller ones, several connections show it, or a router names its limit",
    vantage: "A path that takes less than the ends agreed on, and errors that do not arrive; the router in question is not seen.",
};

/// Repetitions that nobody needed.
pub(super) const NEEDLESS: Rule = Rule {
    code: "tcp_needless_retransmission",
    severity: Severity::Info,
    at_least: 10,
    percent: 1.0,
    when: "so many packets, and so much of all that carried something, were sent again though the receiver had them, as its \
           acknowledgments say (SACK and D-SACK included)",
    vantage: "Acknowledgments were lost or late; what they say of the receiver is certain where they passed here.",
};

/// The receiver's window sets the pace.
pub(super) const WINDOW_LIMITED: Rule = Rule {
    code: "tcp_window_limited",
    severity: Severity::Info,
    at_least: 1000,
    percent: 50.0,
    when: "so many milliseconds, and so much of the time in which there was something to send, the window had no room",
    vantage: "A larger buffer at the receiver, or an application there that reads faster, would help; the network would not.",
};

/// Finds them, by pair of hosts.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    let pairs = || pass.flows.pairs.iter();
    let most = |count: fn(&HostPair) -> u64| {
        let mut all: Vec<_> = pairs().filter(|(_, pair)| count(pair) > 0).collect();
        all.sort_by_key(|(_, pair)| std::cmp::Reverse(count(pair)));
        all
    };
    for (hosts, pair) in most(|pair| pair.black_hole.packets) {
        large(found, pass, *hosts, pair);
    }
    again(found, pass);
    for (hosts, pair) in most(|pair| pair.doubling.packets) {
        backoff(found, *hosts, pair);
    }
    for (hosts, pair) in most(|pair| pair.needless) {
        if NEEDLESS.meets(pair.needless, pair.carrying) {
            let title =
                format!("{} sent {} packets again that the receiver had", direction(*hosts), pair.needless);
            let numbers =
                [("packets", pair.needless as f64), ("percent", percent(pair.needless, pair.carrying))];
            found.add(&NEEDLESS, title, &pair.again.frames, repeated(*hosts), &numbers);
        }
    }
    for (hosts, pair) in most(|pair| pair.longest.1) {
        window(found, *hosts, pair);
    }
}

/// How many packets were sent again for a reason.
fn lost(pair: &HostPair) -> u64 {
    pair.before + pair.after
}

/// Finds what was sent again: of all hosts together where no pair of them stands out, else pair by pair.
fn again(found: &mut FindingList, pass: &Pass) {
    let mut pairs: Vec<_> =
        pass.flows.pairs.iter().filter(|(_, pair)| lost(pair) > 0 && !pair.again.frames.is_empty()).collect();
    pairs.sort_by_key(|(_, pair)| std::cmp::Reverse(lost(pair)));
    let all: u64 = pairs.iter().map(|(_, pair)| lost(pair)).sum();
    let spread = pairs.first().is_some_and(|(_, pair)| lost(pair) * 2 < all);
    if spread && RETRANSMISSION.meets(all, pass.flows.carrying) {
        let part = percent(all, pass.flows.carrying);
        let (hosts, vantage) = (pairs.len(), &pass.flows.vantage);
        let title = format!(
            "{all} packets with data were sent again ({part} %), among {hosts} pairs of hosts; {} were lost before this \
             point, {} behind it",
            vantage.lost_before, vantage.lost_after
        );
        let numbers = [
            ("packets", all as f64),
            ("percent", part),
            ("pairs", hosts as f64),
            ("lost_before", vantage.lost_before as f64),
            ("lost_after", vantage.lost_after as f64),
            ("needless", vantage.needless as f64),
        ];
        let frames: Vec<u64> =
            pairs.iter().filter_map(|(_, pair)| pair.again.frames.first().copied()).take(5).collect();
        found.add(&RETRANSMISSION, title, &frames, "tcp.analysis.retransmission".to_owned(), &numbers);
        return;
    }
    for (hosts, pair) in pairs {
        again_between(found, *hosts, pair);
    }
}

fn again_between(found: &mut FindingList, hosts: (IpAddr, IpAddr), pair: &HostPair) {
    let count = lost(pair);
    if !RETRANSMISSION.meets(count, pair.carrying) {
        return;
    }
    let part = percent(count, pair.carrying);
    let title = format!(
        "{}: {count} of {} packets with data were sent again ({part} %; {} were lost before this point, {} behind it)",
        direction(hosts),
        pair.carrying,
        pair.before,
        pair.after
    );
    let numbers = [
        ("packets", count as f64),
        ("percent", part),
        ("connections", pair.again.flows as f64),
        ("lost_before", pair.before as f64),
        ("lost_after", pair.after as f64),
        ("needless", pair.needless as f64),
    ];
    found.add(&RETRANSMISSION, title, &pair.again.frames, repeated(hosts), &numbers);
}

fn backoff(found: &mut FindingList, hosts: (IpAddr, IpAddr), pair: &HostPair) {
    let cases = &pair.doubling;
    if !BACKOFF.meets(cases.packets, 0) || pair.black_hole.packets == cases.packets {
        return;
    }
    let pause = (f64::from(pair.pause) / 1000.0).round();
    let title = format!(
        "{} repeated segments in {} {} times with pauses that double, up to {pause} ms",
        direction(hosts),
        connections(cases.flows),
        cases.packets
    );
    let numbers = [
        ("connections", cases.flows as f64),
        ("repetitions", cases.packets as f64),
        ("longest_pause_ms", pause),
    ];
    found.add(&BACKOFF, title, &cases.frames, repeated(hosts), &numbers);
}

/// Returns what does not pass between two hosts because of its size, if that is the likely reason, and who says so.
pub(super) fn too_large<'a>(
    pass: &'a Pass,
    to: IpAddr,
    pair: &HostPair,
) -> Option<(MtuBlackHole, Option<(&'a IcmpError, &'a IcmpErrorCounts)>)> {
    let black_hole = pair.smallest.filter(|black_hole| black_hole.size > pair.passed)?;
    let limit = pass.icmp.errors.iter().find(|(icmp_error, _)| {
        icmp_error.about == to
            && matches!((icmp_error.six, icmp_error.kind, icmp_error.code), (false, 3, 4) | (true, 2, _))
    });
    let sure = pair.alive || pair.black_hole.flows > 1 || limit.is_some();
    (sure && LARGE_LOST.meets(pair.black_hole.packets, 0)).then_some((black_hole, limit))
}

fn large(found: &mut FindingList, pass: &Pass, (from, to): (IpAddr, IpAddr), pair: &HostPair) {
    let Some((black_hole, limit)) = too_large(pass, to, pair) else {
        return;
    };
    let said = limit.map_or_else(
        || "no error says why".to_owned(),
        |(icmp_error, counts)| {
            format!("{} says that the next hop takes {} bytes", icmp_error.from, counts.mtu)
        },
    );
    let passed = match pair.passed {
        0 => "the handshake passes".to_owned(),
        bytes => format!("up to {bytes} bytes pass"),
    };
    let title = format!(
        "{}: segments of {} bytes and more were sent again {} times in vain, while {passed}; {said}",
        direction((from, to)),
        black_hole.size,
        pair.black_hole.packets
    );
    let mut numbers = vec![
        ("connections", pair.black_hole.flows as f64),
        ("repetitions", pair.black_hole.packets as f64),
        ("size", f64::from(black_hole.size)),
        ("passed", f64::from(pair.passed)),
    ];
    numbers.extend(black_hole.cut_to.map(|cut| ("cut_to", f64::from(cut))));
    numbers
        .extend(limit.filter(|(_, counts)| counts.mtu > 0).map(|(_, counts)| ("mtu", f64::from(counts.mtu))));
    let filter = format!("{} && tcp.len > {}", repeated((from, to)), pair.passed);
    found.add(&LARGE_LOST, title, &pair.black_hole.frames, filter, &numbers);
}

fn window(found: &mut FindingList, hosts: (IpAddr, IpAddr), pair: &HostPair) {
    let [_, window, loss, path] = pair.waited.map(|nanos| nanos / 1_000_000);
    let busy = window + loss + path;
    if !WINDOW_LIMITED.meets(window, busy) {
        return;
    }
    let part = percent(window, busy);
    let title = format!(
        "{}: for {part} % of the {busy} ms in which there was something to send, the receiver's window had no room",
        direction(hosts)
    );
    let numbers =
        [("window_ms", window as f64), ("loss_ms", loss as f64), ("path_ms", path as f64), ("percent", part)];
    let (from, to) = hosts;
    let filter = format!("tcp && {0} == {from} && {0} == {to}", field(from, "addr"));
    found.add(&WINDOW_LIMITED, title, &[pair.longest.0], filter, &numbers);
}

fn direction((from, to): (IpAddr, IpAddr)) -> String {
    format!("{from} to {to}")
}

fn repeated((from, to): (IpAddr, IpAddr)) -> String {
    format!("tcp.analysis.retransmission && {} == {from} && {} == {to}", field(from, "src"), field(to, "dst"))
}
