//! Protocols above TCP and UDP: recorded handshakes and requests against tshark, made datagrams against what they were made for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ghost_agent::pcap::{Analyzer, Finding, Frame, Scope, Severity, Summary, frames, markdown};
use serde_json::{Value, json};

use super::capture::{End, Segment, Timed, pcap, tcp, udp};
use super::tshark;
use crate::random::{Random, is_long, seed};

const SECOND: u64 = 1_000_000;

fn account(capture: &[u8]) -> Summary {
    let mut analyzer = Analyzer::new(Scope { full: true, ..Scope::default() });
    let ending = frames(capture, |frame| {
        analyzer.feed(frame);
    })
    .unwrap();
    analyzer.finish(&ending)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pcap").join(name)
}

fn codes(found: &Summary) -> BTreeSet<&str> {
    let kinds = ["tls_", "http_", "quic_", "dhcp", "ntp_", "udp_"];
    let codes = found.findings.iter().map(|finding| finding.code);
    codes.filter(|code| kinds.iter().any(|kind| code.starts_with(kind))).collect()
}

/// Each filter has to show the frames that a finding names.
fn filters_show_their_frames(capture: &Path, findings: &[Finding]) {
    if !tshark::asked() {
        return;
    }
    for finding in findings {
        let shown = tshark::fields(capture, &finding.evidence.filter, &["frame.number"]);
        let shown: BTreeSet<u64> = shown.iter().flatten().map(|number| number.parse().unwrap()).collect();
        let frames = &finding.evidence.frames;
        assert!(
            !frames.is_empty() && frames.iter().all(|frame| shown.contains(frame)),
            "{finding:?} {shown:?}"
        );
    }
}

fn made(all: &[Timed]) -> Summary {
    let capture = pcap(all, 65_535);
    let found = account(&capture);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.pcap");
    std::fs::write(&path, capture).unwrap();
    filters_show_their_frames(&path, &found.findings);
    found
}

#[test]
fn recorded_handshakes_are_told_as_tshark_reads_them() {
    let path = fixture("handshakes.pcap");
    let found = account(&std::fs::read(&path).unwrap());
    let tls = &found.tls;
    let counted =
        [tls.client_hellos, tls.server_hellos, tls.finished, tls.unanswered, tls.aborted, tls.alerts];
    assert_eq!(counted, [24, 10, 4, 6, 0, 11]);
    let expected =
        ["tls_alert", "tls_certificate_expired", "tls_not_spoken", "tls_old_version", "tls_unanswered"];
    assert_eq!(codes(&found), BTreeSet::from(expected));
    filters_show_their_frames(&path, &found.findings);
    if !tshark::asked() {
        return;
    }
    let names = ["tcp.dstport", "tls.handshake.extensions_server_name"];
    let theirs: BTreeSet<Vec<String>> =
        tshark::fields(&path, "tls.handshake.type == 1", &names).into_iter().collect();
    let ours =
        tls.servers.iter().map(|server| vec![server.server.port().to_string(), server.name.clone().unwrap()]);
    assert_eq!(ours.collect::<BTreeSet<_>>(), theirs);
    let numbers = [
        "tcp.srcport",
        "tls.handshake.extensions.supported_version",
        "tls.handshake.version",
        "tls.handshake.ciphersuite",
    ];
    for row in tshark::fields(&path, "tls.handshake.type == 2", &numbers) {
        let [port, newest, version, cipher] = row.as_slice() else { panic!("{row:?}") };
        let server = tls.servers.iter().find(|server| server.server.port().to_string() == *port).unwrap();
        let version = match if newest.is_empty() { version } else { newest }.as_str() {
            "0x0301" => "TLS 1.0",
            "0x0303" => "TLS 1.2",
            "0x0304" => "TLS 1.3",
            other => panic!("{other}"),
        };
        assert!(server.versions.contains_key(version), "{server:?}");
        let known = match cipher.as_str() {
            "0x1302" => "AES_256_GCM_SHA384",
            "0xc030" => "ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "0xc014" => "ECDHE_RSA_WITH_AES_256_CBC_SHA",
            other => panic!("{other}"),
        };
        assert_eq!(server.ciphers.keys().collect::<Vec<_>>(), [known]);
    }
    let alerts = tshark::fields(&path, "tls.alert_message.desc", &["tls.alert_message.desc"]);
    assert_eq!(alerts.len() as u64, tls.alerts);
}

#[test]
fn a_handshake_is_the_same_in_pieces_twice_and_out_of_order() {
    let hello = |name: &[u8]| {
        let extensions =
            [&[0, 0, 0, 5 + name.len() as u8, 0, 3 + name.len() as u8, 0, 0, name.len() as u8], name]
                .concat();
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 1, 1, 0, 0, extensions.len() as u8]);
        body.extend(extensions);
        let length = body.len() as u8;
        [&[22, 3, 1, 0, length + 4, 1, 0, 0, length][..], &body].concat()
    };
    let (client, server) = (End { host: 1, port: 40_000 }, End { host: 2, port: 8443 });
    let bytes = hello(b"a.example");
    let orders: [&[usize]; 5] = [&[0, 1, 2], &[2, 1, 0], &[0, 2, 1], &[0, 0, 1, 0, 2, 1], &[1, 0, 2, 2]];
    for order in orders {
        let mut all = vec![
            (0, tcp(false, client, server, &Segment { seq: 99, flags: 2, ..Segment::default() })),
            (
                10,
                tcp(false, server, client, &Segment { seq: 499, ack: 100, flags: 18, ..Segment::default() }),
            ),
        ];
        for (place, piece) in order.iter().enumerate() {
            let start = piece * 30;
            let data = bytes.get(start..(start + 30).min(bytes.len())).unwrap();
            let segment = Segment {
                seq: 100 + start as u32,
                ack: 500,
                flags: 16,
                len: data.len(),
                ..Segment::default()
            };
            let mut frame = tcp(false, client, server, &segment);
            let payload = frame.len() - data.len();
            frame.get_mut(payload..).unwrap().copy_from_slice(data);
            all.push((20 + place as u64, frame));
        }
        let found = account(&pcap(&all, 65_535));
        let told: Vec<_> =
            found.tls.servers.iter().map(|server| (server.name.as_deref(), server.hellos)).collect();
        assert_eq!(told, [(Some("a.example"), 1)], "{order:?}");
    }
}

#[test]
fn recorded_requests_are_counted_by_code_and_their_paths_are_left_out() {
    let path = fixture("requests.pcap");
    let found = account(&std::fs::read(&path).unwrap());
    let server = found.http.servers.first().unwrap();
    let codes = json!(server.codes);
    assert_eq!((server.requests, server.responses, server.unanswered), (13, 10, 3));
    assert_eq!(codes, json!({"200": 1, "204": 3, "404": 1, "500": 4, "503": 1}));
    assert_eq!(server.hosts, ["127.0.0.1:8077", "shop.example"]);
    assert_eq!(json!(server.methods), json!({"GET": 10, "POST": 3}));
    assert!(server.latency_ms.is_some_and(|figures| figures.min >= 20.0 && figures.samples == 10));
    let all = format!("{}{}", serde_json::to_string(&found).unwrap(), markdown(&found, "requests"));
    assert!(!all.contains("secret") && !all.contains("/404"));
    filters_show_their_frames(&path, &found.findings);
    if tshark::asked() {
        assert_eq!(tshark::fields(&path, "http.request", &["frame.number"]).len(), 13);
        let theirs = tshark::fields(&path, "http.response", &["http.response.code"]);
        assert_eq!(theirs.len(), 10);
        assert!(theirs.iter().flatten().all(|code| codes.get(code).is_some()));
    }
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
fn a_second_server_of_addresses_is_told_and_a_slow_one_is_not() {
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
fn a_search_that_no_server_answers_is_told_and_no_alarm() {
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
fn clocks_that_are_silent_unset_or_send_away_are_told() {
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
fn a_blocked_quic_is_told_and_one_that_answers_is_not() {
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
fn datagrams_are_told_by_direction_and_questions_without_an_answer_first() {
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
    assert_eq!((found.udp.streams, found.udp.one_way), (6, 5));
    let first = json!(found.udp.flows.first());
    assert_eq!(
        (&first["b"], &first["one_way"], &first["packets"]),
        (&json!("10.0.0.3:161"), &json!(true), &json!(1))
    );
    let loud = found.udp.flows.iter().find(|flow| flow.b.port() == 4000).unwrap();
    assert_eq!((loud.packets, loud.bytes, loud.packets_back, loud.bytes_back), (1, 100, 1, 900));
}

#[test]
fn every_key_is_there_though_nothing_was_said() {
    let found: Value = json!(account(&pcap(&[], 65_535)));
    for key in ["tls", "http", "quic", "dhcp", "ntp", "udp"] {
        assert!(found.get(key).is_some_and(Value::is_object), "{key}");
    }
}

#[test]
fn damaged_conversations_end_in_an_account() {
    let mut random = Random::new(seed("pcap protocols"));
    let clean = ["handshakes.pcap", "requests.pcap"].map(|name| std::fs::read(fixture(name)).unwrap());
    for _ in 0..if is_long() { 20_000 } else { 100 } {
        let mut capture = random.pick(&clean).clone();
        for _ in 0..=random.below(60) {
            let at = 24 + random.below(capture.len() - 24);
            *capture.get_mut(at).unwrap() = random.next() as u8;
        }
        let mut analyzer = Analyzer::new(Scope { full: random.below(2) == 0, ..Scope::default() });
        // Damage to a record's own header may end it early.
        let mut seen = 0_u64;
        let Ok(ending) = frames(&capture[..], |frame| {
            let snap =
                if random.below(4) == 0 { random.below(frame.data.len() + 1) } else { frame.data.len() };
            let data = frame.data.get(..snap).unwrap();
            analyzer.feed(&Frame { data, ..*frame });
            seen += 1;
        }) else {
            continue;
        };
        let found = analyzer.finish(&ending);
        assert_eq!(found.file.packets, seen);
        assert!(found.tls.finished <= found.tls.client_hellos.max(found.tls.server_hellos));
        assert!(!markdown(&found, "damaged").contains('\x1b'));
    }
}
