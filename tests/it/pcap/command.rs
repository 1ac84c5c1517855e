//! `ghost pcap` as a command: exit codes, streams, and what people read.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use super::capture::{End, Segment, dns, pcap, tcp, udp};

const CLIENT: End = End { host: 1, port: 40_000 };
const SERVER: End = End { host: 2, port: 80 };
const RESOLVER: End = End { host: 53, port: 53 };

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
pub(super) fn ghost(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(arguments)
        .env_clear()
        .current_dir(folder)
        .output()
        .unwrap()
}

fn with(name: &str, capture: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), capture).unwrap();
    folder
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn at<'a>(answer: &'a Value, path: &str) -> &'a Value {
    answer.pointer(path).unwrap_or(&Value::Null)
}

/// Three SYNs that nobody answers.
fn unanswered() -> Vec<(u64, Vec<u8>)> {
    let syn = Segment { seq: 7, flags: 2, win: 64_240, ..Segment::default() };
    (0..3).map(|second| (second * 1_000_000, tcp(false, CLIENT, SERVER, &syn))).collect()
}

#[test]
fn a_service_that_never_answers_is_reported_with_frames_and_a_filter() {
    let folder = with("a.pcap", &pcap(&unanswered(), 65_535));
    let found =
        answer(&ghost(&["pcap", "analyze", "a.pcap", "--json", "--frames", "retransmission"], folder.path()));
    assert_eq!(at(&found, "/findings/0/code"), "syn_unanswered");
    assert_eq!(at(&found, "/findings/0/evidence/frames"), &serde_json::json!([1]));
    assert_eq!(
        at(&found, "/findings/0/evidence/filter"),
        "tcp.flags.syn == 1 && ip.dst == 10.0.0.2 && tcp.dstport == 80"
    );
    assert_eq!(at(&found, "/tcp/flows/0/state"), "syn_sent");
    assert_eq!(at(&found, "/frames/retransmission"), &serde_json::json!([2, 3]));
    let listed = ghost(&["pcap", "analyze", "a.pcap", "--frames", "retransmission"], folder.path());
    assert_eq!(listed.stdout, b"2\n3\n");
}

#[test]
fn a_warning_is_bad_news_where_more_than_a_handful_of_packets_show_it() {
    let code = |syns: u64| {
        let all = unanswered().into_iter().cycle().zip(0_u64..syns);
        let all: Vec<_> = all.map(|((_, syn), at)| (at * 1_000_000, syn)).collect();
        let folder = with("syns.pcap", &pcap(&all, 65_535));
        let found = answer(&ghost(&["pcap", "analyze", "syns.pcap", "--json"], folder.path()));
        assert_eq!(at(&found, "/findings/0/severity"), "warning", "{found}");
        ghost(&["pcap", "analyze", "syns.pcap", "--json", "--exit-code"], folder.path()).status.code()
    };
    assert_eq!((code(3), code(30)), (Some(0), Some(3)));
}

#[test]
fn a_capture_that_ends_in_a_packet_is_read_up_to_there() {
    let mut capture = pcap(&unanswered(), 65_535);
    capture.truncate(capture.len() - 9);
    let folder = with("cut.pcap", &capture);
    let found = answer(&ghost(&["pcap", "analyze", "cut.pcap", "--json"], folder.path()));
    assert_eq!(
        (at(&found, "/file/packets"), at(&found, "/file/cut_off")),
        (&Value::from(2), &Value::from(true))
    );
}

#[test]
fn what_is_no_capture_is_refused_with_a_hint() {
    let folder = with("notes.txt", b"this is no capture, whatever its name says");
    for (file, expected) in
        [("notes.txt", "neither pcap nor pcapng"), ("missing", "No such file"), (".", "folder")]
    {
        let output = ghost(&["pcap", "analyze", file, "--json"], folder.path());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(said.starts_with("error: ") && said.contains(expected), "{said}");
    }
}

#[test]
fn names_from_the_network_do_not_steer_the_terminal() {
    let name = b"\x06\x1b[2Jaa\x04test";
    let all: Vec<_> = (0..12)
        .flat_map(|id| {
            let ask = udp(CLIENT, RESOLVER, &dns(id, false, 0, name));
            let tell = udp(RESOLVER, CLIENT, &dns(id, true, 3, name));
            [(u64::from(id) * 1000, ask), (u64::from(id) * 1000 + 500, tell)]
        })
        .collect();
    let folder = with("names.pcap", &pcap(&all, 65_535));
    let output = ghost(&["pcap", "analyze", "names.pcap"], folder.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("`\\027\\0912jaa.test`") && !text.contains('\x1b'), "{text}");
}

#[test]
fn a_question_in_an_error_is_not_asked() {
    let question = udp(CLIENT, RESOLVER, &dns(1, false, 0, b"\x01a"));
    let mut error = question.get(..14).unwrap().to_vec();
    error.extend([0x45, 0, 0, 80, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 53, 10, 0, 0, 1]);
    error.extend([3, 3, 0, 0, 0, 0, 0, 0]);
    error.extend(question.get(14..).unwrap());
    let folder = with("error.pcap", &pcap(&[(0, question), (1000, error)], 65_535));
    let found = answer(&ghost(&["pcap", "analyze", "error.pcap", "--json"], folder.path()));
    assert_eq!((at(&found, "/counts/dns"), at(&found, "/dns/queries")), (&Value::from(2), &Value::from(1)));
    assert_eq!(at(&found, "/icmp/unreachable/0/about"), "10.0.0.53:53");
    assert_eq!(at(&found, "/icmp/types"), &serde_json::json!({"3/3": 1}));
}

#[test]
fn packets_that_do_not_arrive_are_reported_by_direction() {
    let sent = unanswered();
    let folder = with("a.pcap", &pcap(&sent, 65_535));
    let late: Vec<_> = sent.iter().take(1).map(|(time, frame)| (time + 7_000_000, frame.clone())).collect();
    fs::write(folder.path().join("b.pcap"), pcap(&late, 65_535)).unwrap();
    let found = answer(&ghost(&["pcap", "compare", "a.pcap", "b.pcap", "--json"], folder.path()));
    assert_eq!(
        at(&found, "/packets"),
        &serde_json::json!({"a": 3, "b": 1, "both": 1, "only_a": 2, "only_b": 0})
    );
    assert_eq!(at(&found, "/directions/0/src"), "10.0.0.1");
    let code = |a: &str, b: &str, mode: &str, asked: &[&str]| {
        let arguments = [&["pcap", "compare", a, b, "--mode", mode], asked].concat();
        ghost(&arguments, folder.path()).status.code()
    };
    assert_eq!(code("a.pcap", "b.pcap", "endpoints", &["--exit-code"]), Some(3));
    assert_eq!(code("a.pcap", "b.pcap", "endpoints", &[]), Some(0));
    assert_eq!(code("a.pcap", "a.pcap", "temporal", &["--exit-code"]), Some(0));
}

#[test]
fn reports_are_written_whole_and_name_the_capture() {
    let folder = with("trouble.pcap", &pcap(&unanswered(), 65_535));
    let arguments = ["pcap", "analyze", "trouble.pcap", "--out", "reports", "--focus", "10.9.9.9", "--json"];
    let found = answer(&ghost(&arguments, folder.path()));
    assert_eq!(at(&found, "/tcp/flows"), &serde_json::json!([]));
    assert_eq!(at(&found, "/tcp/streams"), &Value::from(1));
    let path = folder.path().join("reports");
    let written: Value =
        serde_json::from_slice(&fs::read(path.join("trouble_semantic.json")).unwrap()).unwrap();
    assert_eq!(written, found);
    assert!(fs::read_to_string(path.join("trouble_forensic_report.md")).unwrap().contains("syn_unanswered"));
    // A picture for packets over time; the connection in trouble is not the one in focus, and has no round trip.
    let pictures = usize::from(cfg!(feature = "plot"));
    assert_eq!(fs::read_dir(path).unwrap().count(), 2 + pictures);
}

#[test]
fn a_capture_with_cut_packets_holds_the_same_packets() {
    let data = |seq| Segment { seq, ack: 1, flags: 16, win: 500, len: 300, ..Segment::default() };
    let all: Vec<_> =
        (0..9_u32).map(|at| (u64::from(at) * 1000, tcp(false, CLIENT, SERVER, &data(at * 300)))).collect();
    let folder = with("whole.pcap", &pcap(&all, 65_535));
    fs::write(folder.path().join("cut.pcap"), pcap(&all, 70)).unwrap();
    let found = answer(&ghost(&["pcap", "compare", "whole.pcap", "cut.pcap", "--json"], folder.path()));
    assert_eq!(at(&found, "/packets/both"), &Value::from(9));
}

#[test]
fn the_account_stays_short_whatever_there_is_to_tell() {
    let mut all = Vec::new();
    for number in 0..3000_u16 {
        let time = u64::from(number) * 1000;
        let client = End { host: 1, port: 20_000 + number };
        let server = End { host: (number % 200) as u8, port: 80 + number % 7 };
        let syn = Segment { seq: 7, flags: 2, win: 64_240, ..Segment::default() };
        all.extend((0..4).map(|again| (time + again, tcp(true, client, server, &syn))));
        let mut name = vec![63];
        name.extend([b'x'; 63]);
        name.extend([63]);
        name.extend(format!("{number:063}").bytes());
        all.push((time, udp(client, RESOLVER, &dns(number, false, 0, &name))));
        all.push((time + 9, udp(RESOLVER, client, &dns(number, true, 3, &name))));
    }
    let folder = with("much.pcap", &pcap(&all, 65_535));
    let short = ghost(&["pcap", "analyze", "much.pcap", "--json"], folder.path());
    let found = answer(&short);
    assert!(short.stdout.len() < 24_000, "{}", short.stdout.len());
    assert!(!at(&found, "/tcp/flows/3/state").is_null());
    let full = answer(&ghost(&["pcap", "analyze", "much.pcap", "--json", "--full"], folder.path()));
    assert_eq!(at(&full, "/tcp/flows").as_array().unwrap().len(), 3000);
}

#[test]
fn the_rules_are_printed_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let found = answer(&ghost(&["pcap", "rules", "--json"], folder.path()));
    let codes: Vec<&Value> = found.as_array().unwrap().iter().map(|rule| at(rule, "/code")).collect();
    assert!(codes.contains(&&Value::from("pmtu_blackhole")));
    assert_eq!(
        String::from_utf8(ghost(&["pcap", "rules"], folder.path()).stdout).unwrap().lines().count(),
        codes.len()
    );
}
