//! What fills a link, and packets that arrive in fragments.

use super::finding::{FindingList, field};
use super::finding::{Rule, Severity};
use crate::analyze::Pass;
use crate::summary::mac;

/// Everybody is spoken to too often.
const BROADCAST: Rule = Rule {
    code: "broadcast_storm",
    severity: Severity::Warning,
    at_least: 500,
    percent: 0.0,
    when: "so many frames to everybody within one second of the clock, from one sender or all together",
    vantage: "Every host on this link gets them; a loop of the link repeats the same frames, a scan asks for many addresses.",
};

/// A group is spoken to too often.
const MULTICAST: Rule = Rule {
    code: "multicast_storm",
    severity: Severity::Warning,
    at_least: 5000,
    percent: 0.0,
    when: "so many frames from one sender to one group within one second of the clock",
    vantage: "Films and market data come fast on purpose; whether all of this link has to see them, its switch decides.",
};

/// Fragments of packets do not arrive.
const FRAGMENTS_LOST: Rule = Rule {
    code: "fragments_lost",
    severity: Severity::Warning,
    at_least: 3,
    percent: 2.0,
    when: "so many fragmented packets from one address to another, and so much of all, were never complete, though there was a second of time",
    vantage: "Lost before this point, sent on another path, or dropped by the capture itself.",
};

/// Fragments of packets claim the same bytes.
const FRAGMENTS_ODD: Rule = Rule {
    code: "fragments_overlap",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many fragments overlap others of the same packet, or reach beyond what a packet can hold",
    vantage: "No sender makes such fragments by itself; receivers do not agree on what to make of them.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 4] = [BROADCAST, MULTICAST, FRAGMENTS_LOST, FRAGMENTS_ODD];

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    storms(found, pass);
    fragments(found, pass);
}

fn storms(found: &mut FindingList, pass: &Pass) {
    let all = &pass.storms.all;
    let mut one = false;
    for (rule, everybody) in [(&BROADCAST, true), (&MULTICAST, false)] {
        for (from, to, rate) in pass.storms.fastest(everybody) {
            if !rule.meets(rate.most, 0) {
                break;
            }
            one |= everybody;
            let (from, to) = (mac(from), mac(to));
            let group = if everybody { "everybody".to_owned() } else { format!("the group {to}") };
            let title = format!("{from} sends up to {} frames a second to {group}", rate.most);
            let numbers = [("frames_a_second", rate.most as f64), ("frames", rate.frames as f64)];
            // A cooked link header names senders in a field of its own.
            let filter = format!("eth.src == {from} && eth.dst == {to} || sll.src.eth == {from}");
            found.add(rule, title, &rate.first, filter, &numbers);
        }
    }
    if !one && BROADCAST.meets(all.most, 0) {
        let title = format!("up to {} frames a second go to everybody, from many senders", all.most);
        let numbers = [("frames_a_second", all.most as f64), ("frames", all.frames as f64)];
        let filter = "eth.dst == ff:ff:ff:ff:ff:ff || sll.pkttype == 1".to_owned();
        found.add(&BROADCAST, title, &all.first, filter, &numbers);
    }
}

fn fragments(found: &mut FindingList, pass: &Pass) {
    let mut worst: Vec<_> = pass.pairs.iter().collect();
    worst.sort_by_key(|(ends, pair)| (std::cmp::Reverse((pair.lost, pair.invalid)), **ends));
    for ((source, destination), pair) in worst {
        let [from, to] = [field(*source, "src"), field(*destination, "dst")];
        let frame_filter =
            if source.is_ipv4() { "(ip.flags.mf == 1 || ip.frag_offset > 0)" } else { "ipv6.fraghdr" };
        let filter = format!("{frame_filter} && {from} == {source} && {to} == {destination}");
        let all = pair.whole + pair.lost;
        if FRAGMENTS_LOST.meets(pair.lost, all) {
            let title = format!(
                "{} of {all} fragmented packets from {source} to {destination} were never complete",
                pair.lost
            );
            let numbers = [("incomplete", pair.lost as f64), ("fragmented_packets", all as f64)];
            found.add(&FRAGMENTS_LOST, title, &pair.frames, filter.clone(), &numbers);
        }
        if FRAGMENTS_ODD.meets(pair.invalid, 0) {
            let title =
                format!("{} fragments from {source} to {destination} claim bytes of others", pair.invalid);
            let numbers = [("fragments", pair.invalid as f64)];
            found.add(&FRAGMENTS_ODD, title, &pair.invalid_frames, filter, &numbers);
        }
    }
}
