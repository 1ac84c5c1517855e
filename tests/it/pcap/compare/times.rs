//! Two times: what became worse, better, new or gone, beyond what chance brings. The scenarios are those of the reference's pairs.

use ghost_pcap::{ChangeVerdict, Comparison, Significance, Trend, comparison_markdown};

use super::path::{START, compared, connection, numbered};
use crate::pcap::capture::{End, Segment, Timed, dns, tcp, udp};

const CLIENT: End = End { host: 1, port: 40_000 };
const RESOLVER: End = End { host: 53, port: 53 };

/// A time as it can be: what is asked of whom, and how it goes.
#[derive(Debug, Clone, Copy)]
struct Time {
    /// Connections to port 80, and how many of each have their segments sent again.
    web: (u16, u16),
    /// Questions of which so many have no answer that says a name exists.
    names: (u16, u16),
    /// How long a ping takes, in microseconds; nothing for none.
    ping: Option<u64>,
    /// Who claims 10.0.0.5; nobody answers for 10.0.0.99 where it is 0.
    owners: u8,
    neighbor: bool,
}

const HEALTHY: Time = Time { web: (20, 0), names: (30, 0), ping: Some(5_000), owners: 1, neighbor: true };

fn ping(there: bool, host: u8, seq: u16) -> Vec<u8> {
    let mut frame = udp(CLIENT, End { host, port: 0 }, &[]);
    if !there {
        frame = udp(End { host, port: 0 }, CLIENT, &[]);
    }
    *frame.get_mut(23).unwrap() = 1;
    let kind = if there { 8 } else { 0 };
    let [high, low] = seq.to_be_bytes();
    frame.get_mut(34..42).unwrap().copy_from_slice(&[kind, 0, 0, 0, 0, 7, high, low]);
    numbered(frame, seq + 1)
}

fn arp(operation: u8, mac: u8, sender: u8, target: u8) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([
        2, 0, 0, 0, 0, mac, 8, 6, 0, 1, 8, 0, 6, 4, 0, operation, 2, 0, 0, 0, 0, mac, 10, 0, 0, sender,
    ]);
    frame.extend([0, 0, 0, 0, 0, 0, 10, 0, 0, target]);
    frame
}

impl Time {
    fn capture(self) -> Vec<Timed> {
        let mut frames: Vec<Timed> = Vec::new();
        for number in 0..self.web.0 {
            let start = START + u64::from(number) * 300_000;
            for packet in
                connection(End { host: 1, port: 41_000 + number }, End { host: 2, port: 80 }, 10, start)
            {
                let later = packet.time + 400;
                let carries = packet.there && packet.frame.len() > 100;
                if carries && number < self.web.1 {
                    frames.push((later + 200_000, packet.frame.clone()));
                }
                frames.push((packet.time, packet.frame));
            }
        }
        for number in 0..self.names.0 {
            let time = START + u64::from(number) * 100_000;
            let rcode = if number < self.names.1 { 3 } else { 0 };
            frames.push((time, udp(CLIENT, RESOLVER, &dns(number, false, 0, b"\x03www\x04test"))));
            frames
                .push((time + 15_000, udp(RESOLVER, CLIENT, &dns(number, true, rcode, b"\x03www\x04test"))));
        }
        for (number, took) in (0..20_u16).zip(std::iter::repeat(self.ping)) {
            let time = START + u64::from(number) * 300_000;
            frames.push((time, ping(true, 99, number)));
            if let Some(took) = took {
                frames.push((time + took, ping(false, 99, number)));
            }
        }
        for number in 0..10_u8 {
            let time = START + u64::from(number) * 500_000;
            frames.push((time, arp(2, 5 + number % self.owners, 5, 1)));
            frames.push((time + 10, arp(1, 1, 1, 99)));
            if self.neighbor {
                frames.push((time + 900, arp(2, 99, 99, 1)));
            }
        }
        frames.push((START + 9_000_000, arp(2, 1, 1, 1)));
        frames.sort_by_key(|(time, _)| *time);
        frames
    }
}

#[track_caller]
fn scenario(before: Time, now: Time) -> Comparison {
    compared(&before.capture(), &now.capture())
}

#[track_caller]
fn trend(pair: &Comparison, metric: &str) -> Trend {
    let found = pair.changes.iter().find(|change| change.metric == metric && change.subject.is_none());
    found.unwrap_or_else(|| panic!("{metric} is not in {:?}", pair.changes)).trend
}

fn codes(list: &[ghost_pcap::ComparedFinding]) -> Vec<(&str, &str)> {
    list.iter().map(|one| (one.code, one.subject.as_str())).collect()
}

#[test]
fn healthy_times_are_stable_in_everything() {
    let longer = Time { web: (60, 0), names: (90, 0), ..HEALTHY };
    let pair = scenario(HEALTHY, longer);
    assert_eq!(pair.change_summary.verdict, ChangeVerdict::Stable, "{}", pair.change_summary.sentence);
    assert!(pair.changes.iter().all(|change| change.trend == Trend::Stable), "{:?}", pair.changes);
}

#[test]
fn connections_that_get_worse_are_reported() {
    let pair = scenario(HEALTHY, Time { web: (20, 12), ..HEALTHY });
    assert_eq!(
        (pair.change_summary.verdict, trend(&pair, "tcp_retransmission")),
        (ChangeVerdict::Worse, Trend::New)
    );
    let worse = scenario(Time { web: (20, 2), ..HEALTHY }, Time { web: (20, 16), ..HEALTHY });
    assert_eq!(trend(&worse, "tcp_retransmission"), Trend::Regression);
    assert_eq!(worse.changes.iter().map(|change| change.weight).max(), Some(Significance::Critical));
}

#[test]
fn names_that_do_not_exist_any_more_are_new() {
    let pair = scenario(HEALTHY, Time { names: (40, 40), ..HEALTHY });
    assert_eq!(
        (pair.change_summary.verdict, trend(&pair, "dns_nxdomain")),
        (ChangeVerdict::Worse, Trend::New)
    );
    assert!(codes(&pair.new).iter().any(|(code, _)| *code == "dns_nxdomain"));
}

#[test]
fn an_address_that_two_claim_is_new_and_then_resolved() {
    let spoofed = Time { owners: 2, ..HEALTHY };
    let start = scenario(HEALTHY, spoofed);
    assert_eq!(start.change_summary.verdict, ChangeVerdict::Worse);
    assert_eq!(codes(&start.new), [("arp_conflict", "10.0.0.5")]);
    let end = scenario(spoofed, HEALTHY);
    assert_eq!(
        (end.change_summary.verdict, codes(&end.resolved)),
        (ChangeVerdict::Better, vec![("arp_conflict", "10.0.0.5")])
    );
    let same = scenario(spoofed, spoofed);
    assert_eq!(same.change_summary.verdict, ChangeVerdict::Stable);
    assert!(codes(&same.persisting).contains(&("arp_conflict", "10.0.0.5")));
}

#[test]
fn pings_that_take_longer_are_a_critical_regression_of_their_host() {
    let pair = scenario(HEALTHY, Time { ping: Some(150_000), ..HEALTHY });
    let change = pair.changes.iter().find(|change| change.subject.as_deref() == Some("10.0.0.99")).unwrap();
    assert_eq!(
        (change.metric, change.trend, change.weight),
        ("ping_p50_ms", Trend::Regression, Significance::Critical)
    );
    assert_eq!(trend(&pair, "dns_latency_p50_ms"), Trend::Stable);
}

#[test]
fn a_host_that_goes_down_is_named() {
    let down = Time { ping: None, neighbor: false, ..HEALTHY };
    let pair = scenario(HEALTHY, down);
    assert_eq!(pair.change_summary.verdict, ChangeVerdict::Worse);
    assert!(codes(&pair.new).contains(&("arp_unanswered", "10.0.0.99")), "{:?}", pair.new);
    let host = pair.change_summary.hosts.first().unwrap();
    assert_eq!((host.host.to_string().as_str(), host.trend, host.sent), ("10.0.0.99", Trend::New, (20, 0)));
    assert_eq!(scenario(down, HEALTHY).change_summary.hosts.first().unwrap().trend, Trend::Resolved);
}

#[test]
fn what_got_better_is_reported_beside_what_stayed_bad() {
    let before = Time { web: (20, 12), neighbor: false, ping: Some(200_000), ..HEALTHY };
    let pair = scenario(before, Time { ping: Some(200_000), ..HEALTHY });
    assert_eq!(
        (pair.change_summary.verdict, trend(&pair, "tcp_retransmission")),
        (ChangeVerdict::Better, Trend::Resolved)
    );
    assert_eq!(
        (trend(&pair, "arp_unanswered"), trend(&pair, "ping_p50_ms")),
        (Trend::Resolved, Trend::Stable)
    );
}

#[test]
fn a_service_that_got_worse_does_not_hide_in_the_total() {
    let busy = |again: u16| -> Vec<Timed> {
        let mut frames = Time { web: (400, 0), ..HEALTHY }.capture();
        for number in 0..20_u16 {
            let start = START + u64::from(number) * 300_000;
            for packet in
                connection(End { host: 1, port: 50_000 + number }, End { host: 3, port: 5432 }, 10, start)
            {
                if packet.there && packet.frame.len() > 100 && number < again {
                    frames.push((packet.time + 200_400, packet.frame.clone()));
                }
                frames.push((packet.time, packet.frame));
            }
        }
        frames.sort_by_key(|(time, _)| *time);
        frames
    };
    let pair = compared(&busy(1), &busy(14));
    let change =
        pair.changes.iter().find(|change| change.subject.as_deref() == Some("10.0.0.3:5432/tcp")).unwrap();
    assert_eq!((change.metric, change.trend), ("tcp_retransmission", Trend::Regression));
    assert!(!pair.changes.iter().any(|change| change.subject.as_deref() == Some("10.0.0.2:80/tcp")));
}

#[test]
fn captures_that_cannot_be_compared_say_so() {
    let other: Vec<Timed> = connection(CLIENT, End { host: 7, port: 22 }, 2, START)
        .into_iter()
        .map(|packet| (packet.time, packet.frame))
        .collect();
    let pair = compared(&Time { names: (0, 0), ..HEALTHY }.capture(), &other);
    let doubts = pair.change_summary.doubts.join("; ");
    assert!(doubts.contains("B is short") && doubts.contains("no service is in both"), "{doubts}");
    assert_eq!(compared(&[], &other).change_summary.verdict, ChangeVerdict::Incomparable);
    let oneway: Vec<Timed> = (0..10_u16)
        .map(|number| {
            let data = Segment { seq: 1, ack: 1, flags: 16, len: 9, ..Segment::default() };
            let frame = tcp(false, End { host: 1, port: 42_000 + number }, End { host: 2, port: 80 }, &data);
            (START + u64::from(number), frame)
        })
        .collect();
    let doubts = compared(&HEALTHY.capture(), &oneway).change_summary.doubts.join("; ");
    assert!(doubts.contains("B shows one direction"), "{doubts}");
}

#[test]
fn the_report_begins_with_what_changed() {
    let pair = scenario(HEALTHY, Time { ping: Some(150_000), ..HEALTHY });
    let text = comparison_markdown(&pair, ("before.pcap", "now.pcap"), false);
    assert!(
        text.lines()
            .nth(2)
            .unwrap()
            .starts_with("**WORSE: worse: ping_p50 of 10.0.0.99 5 → 150 ms, critical"),
        "{text}"
    );
    assert!(text.contains("| REGRESSION | critical | HIGH |") && text.contains("## Next"), "{text}");
}
