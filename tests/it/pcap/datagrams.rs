//! What is said over UDP: made datagrams against what they were made for; every filter is shown to tshark.

use std::collections::BTreeSet;

use ghost_pcap::{Severity, Summary};
use serde_json::json;

use super::capture::{End, Timed, pcap, udp};
use super::protocols::{account, codes, filters_show_their_frames};

const SECOND: u64 = 1_000_000;

fn made(all: &[Timed]) -> Summary {
    let capture = pcap(all, 65_535);
    let found = account(&capture);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.pcap");
    std::fs::write(&path, capture).unwrap();
    filters_show_their_frames(&path, &found.findings);
    found
}

/// A DHCP message: kind, number, client, server, router.
fn dhcp(kind: u8, id: u8, client: u8, server: Option<u8>, router: u8) -> Vec<u8> {
    let mut message = vec![0; 236];
    message.splice(..4, [if server.is_some() { 2 } else { 1 }, 1, 6, 0]);
    message.splice(4..8, [0, 0, 0, id]);
    message.splice(28..34, [2, 0, 0, 0, 0, client]);
    message.extend([0x63, 0x82, 0x53, 0x63, 53, 1, kind]);
    if let Some(server) = server {
        message.extend([54, 4, 10, 0, 0, server, 3, 4, 10, 0, 0, router]);
    }
    message.push(255);
    message
}

#[test]
fn a_second_server_of_addresses_is_reported_and_a_slow_one_is_not() {
    let ask = |time, client, id| {
        (
            time,
            udp(End { host: client, port: 68 }, End { host: 255, port: 67 }, &dhcp(1, id, client, None, 0)),
        )
    };
    let tell = |time, kind, server, client, id, router| {
        let message = dhcp(kind, id, client, Some(server), router);
        (time, udp(End { host: server, port: 67 }, End { host: client, port: 68 }, &message))
    };
    let good = [
        ask(0, 9, 1),
        tell(2 * SECOND, 2, 1, 9, 1, 1),
        tell(2 * SECOND + 9, 5, 1, 9, 1, 1),
        ask(60 * SECOND, 8, 2),
    ];
    assert_eq!(codes(&made(&good)), BTreeSet::new());
    let mut bad = good.to_vec();
    bad.extend([
        tell(60 * SECOND + 1, 2, 1, 8, 2, 1),
        tell(60 * SECOND + 2, 2, 7, 8, 2, 66),
        tell(61 * SECOND, 6, 7, 8, 2, 66),
        tell(62 * SECOND, 6, 7, 8, 2, 66),
        tell(63 * SECOND, 6, 7, 8, 2, 66),
        ask(70 * SECOND, 5, 3),
        ask(74 * SECOND, 5, 3),
        ask(80 * SECOND, 5, 3),
    ]);
    let found = made(&bad);
    assert_eq!(codes(&found), BTreeSet::from(["dhcp_nak", "dhcp_rogue", "dhcp_unanswered"]));
    assert_eq!((found.dhcp.unanswered, found.dhcp.servers.len()), (3, 2));
    assert_eq!(json!(found.dhcp.messages), json!({"discover": 5, "offer": 3, "ack": 1, "nak": 3}));
}

#[test]
fn a_search_that_no_server_answers_is_reported_and_no_alarm() {
    let search = |time| {
        (time, udp(End { host: 3, port: 546 }, End { host: 4, port: 547 }, &[1, 0, 0, 9, 0, 1, 0, 2, 7, 7]))
    };
    let all: Vec<Timed> = [0, 1, 3, 7, 15].map(|second| search(second * SECOND)).to_vec();
    let found = made(&all);
    assert_eq!(codes(&found), BTreeSet::from(["dhcpv6_unanswered"]));
    assert!(found.findings.iter().all(|finding| finding.severity == Severity::Info));
}

/// An NTP message.
fn ntp(mode: u8, leap: u8, stratum: u8, code: &[u8; 4]) -> Vec<u8> {
    let mut message = vec![leap << 6 | 4 << 3 | mode, stratum, 6, 0xe9];
    message.resize(48, 0);
    message.splice(12..16, *code);
    message
}

#[test]
fn clocks_that_are_silent_unset_or_send_away_are_reported() {
    let mut all = Vec::new();
    for second in 0..4_u64 {
        for host in [20, 21, 22, 23] {
            let (client, server) = (End { host: 1, port: 40_000 + second as u16 }, End { host, port: 123 });
            all.push((second * 9 * SECOND, udp(client, server, &ntp(3, 0, 0, b"\0\0\0\0"))));
            let answer = match host {
                20 => ntp(4, 0, 2, b"GPS\0"),
                21 => ntp(4, 3, 0, b"RATE"),
                22 => ntp(4, 3, 0, b"INIT"),
                _ => continue,
            };
            all.push((second * 9 * SECOND + 4000, udp(server, client, &answer)));
        }
    }
    all.push((
        99 * SECOND,
        udp(End { host: 1, port: 9999 }, End { host: 20, port: 123 }, &ntp(3, 0, 0, b"\0\0\0\0")),
    ));
    let found = made(&all);
    assert_eq!(codes(&found), BTreeSet::from(["ntp_kiss_of_death", "ntp_unanswered", "ntp_unsynchronized"]));
    let first = found.ntp.servers.iter().find(|server| server.server.to_string() == "10.0.0.20").unwrap();
    assert_eq!((first.requests, first.responses, first.unanswered, first.stratum), (5, 4, 0, Some(2)));
    assert!(first.latency_ms.is_some_and(|figures| figures.p50 == 4.0));
}

/// The first packet of a QUIC connection: the header is real, what is encrypted is nothing.
fn initial(version: u32, first: u8) -> Vec<u8> {
    let mut packet = vec![first];
    packet.extend(version.to_be_bytes());
    packet.extend([8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x44, 0x9e]);
    packet.resize(1200, 0x5a);
    packet
}

#[test]
fn a_blocked_quic_is_reported_and_one_that_answers_is_not() {
    let server = End { host: 30, port: 443 };
    let all: Vec<Timed> = (0..4_u64)
        .map(|second| (second * SECOND, udp(End { host: 1, port: 50_000 }, server, &initial(1, 0xc3))))
        .collect();
    let found = made(&all);
    assert_eq!(codes(&found), BTreeSet::from(["quic_unanswered"]));
    assert_eq!((found.quic.connections, found.quic.initials, found.quic.unanswered), (1, 4, 1));
    let mut good = all;
    good.push((5 * SECOND, udp(server, End { host: 1, port: 50_000 }, &initial(1, 0xc1))));
    let client = End { host: 1, port: 50_001 };
    good.push((5 * SECOND, udp(client, server, &initial(0x6b33_43cf, 0xd3))));
    good.push((5 * SECOND + 9, udp(server, client, &initial(0x6b33_43cf, 0xd1))));
    let found = made(&good);
    assert_eq!(codes(&found), BTreeSet::new());
    assert_eq!(json!(found.quic.versions), json!({"1": 1, "2": 1}));
}

#[test]
fn datagrams_are_reported_by_direction_and_questions_without_an_answer_first() {
    let (client, loud, mute) =
        (End { host: 1, port: 5000 }, End { host: 2, port: 4000 }, End { host: 3, port: 161 });
    let mut all = vec![(0, udp(client, loud, &[1; 100])), (1, udp(loud, client, &[2; 900]))];
    all.extend(
        (0..3_u16).map(|at| (u64::from(at) * SECOND, udp(End { host: 1, port: 6000 + at }, mute, &[3; 40]))),
    );
    all.push((9 * SECOND, udp(client, End { host: 2, port: 514 }, b"a line of a log")));
    all.push((9 * SECOND, udp(client, End { host: 255, port: 1234 }, b"to all")));
    let found = made(&all);
    assert_eq!(codes(&found), BTreeSet::from(["udp_unanswered"]));
    assert_eq!((found.udp.streams, found.udp.unidirectional), (6, 5));
    let first = json!(found.udp.flows.first());
    assert_eq!(
        (&first["b"], &first["one_way"], &first["packets"]),
        (&json!("10.0.0.3:161"), &json!(true), &json!(1))
    );
    let loud = found.udp.flows.iter().find(|flow| flow.b.port() == 4000).unwrap();
    assert_eq!((loud.packets, loud.bytes, loud.packets_back, loud.bytes_back), (1, 100, 1, 900));
}
