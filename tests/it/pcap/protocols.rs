//! TLS and HTTP: recorded handshakes and requests against tshark, in segments, and damaged.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ghost_pcap::{Analyzer, Finding, Frame, Scope, Summary, frames, markdown};
use serde_json::{Value, json};

use super::capture::{End, Segment, pcap, tcp, udp};
use super::tshark;
use crate::random::{Random, is_long, seed};

pub(super) fn account(capture: &[u8]) -> Summary {
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

pub(super) fn codes(found: &Summary) -> BTreeSet<&str> {
    let kinds = ["tls_", "http_", "quic_", "dhcp", "ntp_", "udp_"];
    let codes = found.findings.iter().map(|finding| finding.code);
    codes.filter(|code| kinds.iter().any(|kind| code.starts_with(kind))).collect()
}

/// Each filter has to show the frames that a finding names.
pub(super) fn filters_show_their_frames(capture: &Path, findings: &[Finding]) {
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

#[test]
fn recorded_handshakes_are_reported_as_tshark_reads_them() {
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

/// A record with a hello that asks for a name.
fn hello(name: &[u8]) -> Vec<u8> {
    let length = |bytes: usize| u16::try_from(bytes).unwrap().to_be_bytes();
    let size = name.len();
    let extension = [&[0, 0][..], &length(size + 5), &length(size + 3), &[0], &length(size), name].concat();
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    body.extend(length(extension.len()));
    body.extend(extension);
    [&[22, 3, 1][..], &length(body.len() + 4), &[1, 0], &length(body.len()), &body].concat()
}

/// A segment that carries bytes.
fn carrying(from: End, to: End, seq: u32, data: &[u8]) -> Vec<u8> {
    let segment = Segment { seq, ack: 1, flags: 16, win: 500, len: data.len(), ..Segment::default() };
    let mut frame = tcp(false, from, to, &segment);
    let payload = frame.len() - data.len();
    frame.get_mut(payload..).unwrap().copy_from_slice(data);
    frame
}

#[test]
fn the_account_stays_short_whatever_is_said() {
    let mut all = Vec::new();
    for number in 0..60_u8 {
        let time = u64::from(number) * 1000;
        let client = End { host: 200, port: 40_000 };
        let web = End { host: number, port: 80 };
        let name = [&[b'x'; 90][..], &[number], &[b'y'; 90]].concat();
        all.push((time, carrying(client, End { host: number, port: 443 }, 7, &hello(&name))));
        let request = [&b"GET / HTTP/1.1\r\nHost: "[..], &[b'z'; 90], b"\r\n\r\n"].concat();
        all.push((time + 1, carrying(client, web, 7, &request)));
        for code in 0..20_u32 {
            let line = format!("HTTP/1.1 {} x\r\n\r\n", 500 + code);
            all.push((time + 2, carrying(web, client, 1 + code * 30, line.as_bytes())));
        }
        all.push((time + 3, udp(client, End { host: number, port: 123 }, &[&[0x23][..], &[0; 47]].concat())));
        all.push((time + 4, udp(client, End { host: number, port: 9999 }, &[0; 9])));
    }
    let capture = pcap(&all, 65_535);
    let mut analyzer = Analyzer::new(Scope::default());
    let ending = frames(&capture[..], |frame| {
        analyzer.feed(frame);
    })
    .unwrap();
    let found = analyzer.finish(&ending);
    assert_eq!((found.tls.client_hellos, found.http.responses, found.udp.streams), (60, 1200, 120));
    let text = serde_json::to_string(&found).unwrap();
    assert!(text.len() < 24_000, "{}", text.len());
}

#[test]
fn a_handshake_is_the_same_in_segments_twice_and_out_of_order() {
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
        for (place, chunk) in order.iter().enumerate() {
            let start = chunk * 30;
            let data = bytes.get(start..(start + 30).min(bytes.len())).unwrap();
            all.push((20 + place as u64, carrying(client, server, 100 + start as u32, data)));
        }
        let found = account(&pcap(&all, 65_535));
        let printed: Vec<_> =
            found.tls.servers.iter().map(|server| (server.name.as_deref(), server.hellos)).collect();
        assert_eq!(printed, [(Some("a.example"), 1)], "{order:?}");
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

#[test]
fn an_alert_in_secret_is_known_by_its_length() {
    let server = End { host: 2, port: 443 };
    let mut answer = vec![22, 3, 3, 0, 50, 2, 0, 0, 46, 3, 3];
    answer.extend([9; 32]);
    answer.extend([0, 0x13, 1, 0, 0, 6, 0, 0x2b, 0, 2, 3, 4]);
    let secret = [&[23, 3, 3, 0, 19][..], &[0x5a; 19]].concat();
    let mut all = Vec::new();
    for flow in 0..2_u16 {
        let (client, time) = (End { host: 1, port: 40_000 + flow }, u64::from(flow) * 1000);
        let asked = hello(b"a.example");
        let next = 100 + asked.len() as u32;
        all.push((time, carrying(client, server, 100, &asked)));
        all.push((time + 1, carrying(server, client, 500, &answer)));
        all.push((time + 2, carrying(client, server, next, &secret)));
    }
    let capture = pcap(&all, 65_535);
    let found = account(&capture);
    assert_eq!(codes(&found), BTreeSet::from(["tls_aborted"]));
    assert_eq!((found.tls.server_hellos, found.tls.aborted, found.tls.finished), (2, 2, 0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.pcap");
    std::fs::write(&path, capture).unwrap();
    let ours: Vec<Finding> =
        found.findings.into_iter().filter(|finding| finding.code == "tls_aborted").collect();
    filters_show_their_frames(&path, &ours);
}
