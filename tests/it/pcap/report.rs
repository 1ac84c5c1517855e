//! The report: what a person reads first, whatever the capture is.

use std::fs;

use ghost_pcap::{Analyzer, Scope, Summary, frames, markdown};

use super::capture::{End, Segment, Timed, dns, ip, pcap, tcp, udp};
use super::command::ghost;
use crate::random::{Random, is_long, seed};

const CLIENT: End = End { host: 1, port: 40_000 };
const SERVER: End = End { host: 2, port: 80 };

/// Runs a pass over a capture.
pub(super) fn analyzed(capture: &[u8], scope: Scope) -> Summary {
    let mut analyzer = Analyzer::new(scope);
    let ending = frames(capture, |frame| {
        analyzer.feed(frame);
    })
    .unwrap();
    analyzer.finish(&ending)
}

fn report(all: &[Timed]) -> String {
    markdown(&analyzed(&pcap(all, 65_535), Scope::default()), "trouble.pcap")
}

fn segment(seq: u32, ack: u32, flags: u8, len: usize) -> Segment {
    Segment { seq, ack, flags, win: 5000, len, ..Segment::default() }
}

/// Three SYNs that nobody answers.
fn unanswered() -> Vec<Timed> {
    (0..3).map(|second| (second * 1_000_000, tcp(false, CLIENT, SERVER, &segment(7, 0, 2, 0)))).collect()
}

#[track_caller]
fn says(report: &str, expected: &[&str]) {
    for words in expected {
        assert!(report.contains(words), "`{words}` is missing in:\n{report}");
    }
}

#[test]
fn what_is_wrong_stands_first_and_what_to_do_last() {
    let report = report(&unanswered());
    let summary = report.lines().nth(2).unwrap();
    assert!(summary.starts_with("**10.0.0.2:80 did not answer"), "{summary}");
    says(summary, &["(warning)", "How sure: ", "Next: "]);
    says(
        &report,
        &[
            "| 1 | warning | `syn_unanswered` |",
            "- Filter: `tcp.flags.syn == 1 && ip.dst == 10.0.0.2 && tcp.dstport == 80`",
            "- Vantage: ",
            "tshark -r trouble.pcap -Y 'tcp.flags.syn == 1 && ip.dst == 10.0.0.2 && tcp.dstport == 80'",
        ],
    );
    let order =
        ["## Findings", "## Evidence", "## Next", "## Connections"].map(|title| report.find(title).unwrap());
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn a_healthy_capture_is_said_to_be_healthy_and_what_that_rests_on() {
    let talk = [
        tcp(false, CLIENT, SERVER, &segment(100, 0, 2, 0)),
        tcp(false, SERVER, CLIENT, &segment(500, 101, 18, 0)),
        tcp(false, CLIENT, SERVER, &segment(101, 501, 16, 0)),
        tcp(false, CLIENT, SERVER, &segment(101, 501, 24, 50)),
        tcp(false, SERVER, CLIENT, &segment(501, 151, 24, 80)),
        tcp(false, CLIENT, SERVER, &segment(151, 581, 17, 0)),
        tcp(false, SERVER, CLIENT, &segment(581, 152, 17, 0)),
        tcp(false, CLIENT, SERVER, &segment(152, 582, 16, 0)),
    ];
    let all: Vec<Timed> = (0..).step_by(5000).zip(talk).collect();
    let report = report(&all);
    says(
        &report,
        &["**Nothing is wrong in what was captured:** 1 TCP connection", "How sure: high", "both directions"],
    );
    assert!(!report.contains("## Findings") && !report.contains("## Next"), "{report}");
}

#[test]
fn a_capture_without_a_packet_says_nothing_of_the_network() {
    let report = report(&[]);
    says(&report, &["holds no packet", "0 packets"]);
    assert!(!report.contains("Nothing is wrong"), "{report}");
}

#[test]
fn a_capture_without_tcp_has_no_section_about_it() {
    let resolver = End { host: 53, port: 53 };
    let ask = udp(CLIENT, resolver, &dns(1, false, 0, b"\x01a"));
    let tell = udp(resolver, CLIENT, &dns(1, true, 0, b"\x01a"));
    let report = report(&[(0, ask), (5000, tell)]);
    says(&report, &["Nothing is wrong", "1 DNS question", "little to judge by, 2 packets"]);
    assert!(!report.contains("## Connections") && !report.contains("directions"), "{report}");
}

#[test]
fn a_cut_file_and_one_direction_make_it_less_sure() {
    let all: Vec<Timed> = (0..9_u32)
        .map(|at| (u64::from(at) * 1000, tcp(false, CLIENT, SERVER, &segment(at * 100, 1, 24, 100))))
        .collect();
    let mut capture = pcap(&all, 65_535);
    capture.truncate(capture.len() - 3);
    let report = markdown(&analyzed(&capture, Scope::default()), "a");
    says(&report, &["How sure: limited", "the file is cut off", "only one direction was captured"]);
}

#[test]
fn nothing_from_a_capture_acts_in_a_thread() {
    let name = b"\x0a<!channel>\x08`*[x](y)\x05@here\x06\xe2\x80\xaeabc\x04|a|b";
    let resolver = End { host: 53, port: 53 };
    let all: Vec<Timed> = (0..12_u16)
        .flat_map(|id| {
            let ask = udp(CLIENT, resolver, &dns(id, false, 0, name));
            let tell = udp(resolver, CLIENT, &dns(id, true, 3, name));
            [(u64::from(id) * 1000, ask), (u64::from(id) * 1000 + 500, tell)]
        })
        .collect();
    let summary = analyzed(&pcap(&all, 65_535), Scope::default());
    let report = markdown(&summary, "<!here>`a`|b\n# c.pcap");
    says(&report, &["dns_nxdomain", "channel", "tshark -r CAPTURE"]);
    for loud in ["<!", "<@", "@here", "\u{202e}"] {
        assert!(!report.contains(loud), "{loud} in:\n{report}");
    }
    let row = report.lines().find(|line| line.starts_with("| 1 |")).unwrap();
    assert_eq!(row.matches('|').count(), 6, "{row}");
    let options = pulldown_cmark::Options::ENABLE_TABLES;
    let headings = pulldown_cmark::Parser::new_ext(&report, options)
        .filter(|event| matches!(event, pulldown_cmark::Event::Start(pulldown_cmark::Tag::Heading { .. })));
    assert_eq!(headings.count(), report.lines().filter(|line| line.starts_with('#')).count());
    let links = pulldown_cmark::Parser::new_ext(&report, options)
        .filter(|event| matches!(event, pulldown_cmark::Event::Start(pulldown_cmark::Tag::Link { .. })));
    assert_eq!(links.count(), 0);
}

/// A frame that makes as much to tell as it can.
fn loud(random: &mut Random) -> Vec<u8> {
    let any = |random: &mut Random| End { host: random.next() as u8, port: random.next() as u16 };
    let (one, other) = (any(random), any(random));
    let quoted = tcp(false, one, other, &segment(1, 0, 2, 0)).split_off(14);
    match random.below(7) {
        0 => {
            let mut body = vec![random.next() as u8, random.next() as u8, 0, 0, 0, 0, 5, 0];
            body.extend(quoted);
            ip(false, 1, one.host, other.host, &body)
        }
        1 => {
            let quoted = tcp(true, one, other, &segment(1, 0, 2, 0)).split_off(14);
            let mut body = vec![random.below(5) as u8, random.below(8) as u8, 0, 0, 0, 0, 5, 0];
            body.extend(quoted);
            ip(true, 58, one.host, other.host, &body)
        }
        2 => {
            let mut frame = vec![0xff; 6];
            frame.extend([2, 0, 0, 0, 0, one.host]);
            frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1 + random.below(2) as u8]);
            frame.extend([2, 0, 0, 0, random.below(3) as u8, one.host, 10, 0, 0, random.below(20) as u8]);
            frame.extend([0, 0, 0, 0, 0, 0, 10, 0, 0, random.next() as u8]);
            frame
        }
        3 | 4 => {
            let mut name = Vec::new();
            for _ in 0..3 {
                name.push(63);
                name.extend((0..63).map(|_| random.next() as u8));
            }
            let resolver = End { host: random.below(40) as u8, port: 53 };
            let answer = random.below(2) == 1;
            let (id, rcode) = (random.next() as u16, random.below(6) as u8);
            let (from, to) = if answer { (resolver, one) } else { (one, resolver) };
            udp(from, to, &dns(id, answer, if answer { rcode } else { 0 }, &name))
        }
        _ => {
            let one = End { host: random.below(8) as u8, port: random.below(50) as u16 };
            let other = End { host: random.below(8) as u8, port: random.below(50) as u16 };
            let flags = *random.pick(&[2, 4, 16, 18, 20, 24, 17]);
            let mut segment =
                segment(random.below(9000) as u32, random.below(9000) as u32, flags, random.below(90));
            segment.win = *random.pick(&[0, 0, 500]);
            tcp(random.below(2) == 0, one, other, &segment)
        }
    }
}

#[test]
fn account_and_report_stay_short_whatever_somebody_sends() {
    let mut random = Random::new(seed("pcap account"));
    for _ in 0..if is_long() { 40 } else { 4 } {
        let all: Vec<Timed> =
            (0..20_000_u64).map(|at| (at * 1000 + random.below(900) as u64, loud(&mut random))).collect();
        let summary = analyzed(&pcap(&all, 65_535), Scope::default());
        let account = serde_json::to_string(&summary).unwrap();
        assert!(account.len() < 24_000, "{} bytes: {account}", account.len());
        assert!(!summary.findings.is_empty());
        let report = markdown(&summary, "loud.pcap");
        assert!(report.len() < 12_000, "{} bytes:\n{report}", report.len());
        assert!(account.contains("--full has them"), "what was left out is reported");
    }
}

#[test]
fn captures_of_the_same_name_do_not_overwrite_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("a.pcap"), pcap(&unanswered(), 65_535)).unwrap();
    fs::write(file("a.cap"), pcap(unanswered().get(..2).unwrap(), 65_535)).unwrap();
    fs::create_dir(file("other")).unwrap();
    fs::write(file("other/a.pcap"), pcap(unanswered().get(..1).unwrap(), 65_535)).unwrap();
    let packets = |name: &str| {
        let account: serde_json::Value =
            serde_json::from_slice(&fs::read(file("out").join(name)).unwrap()).unwrap();
        account.pointer("/file/packets").unwrap().as_u64().unwrap()
    };
    for (capture, said) in [
        ("a.pcap", "wrote a_semantic.json"),
        ("a.cap", "wrote a.cap_semantic.json"),
        ("other/a.pcap", "wrote a.pcap_semantic.json"),
        ("a.pcap", "an earlier run on the same capture were replaced"),
    ] {
        let output = ghost(&["pcap", "analyze", capture, "--out", "out"], folder.path());
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && printed.contains(said), "{printed}");
    }
    assert_eq!(["a_semantic.json", "a.cap_semantic.json", "a.pcap_semantic.json"].map(packets), [3, 2, 1]);
}

#[test]
fn a_file_that_is_no_account_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pcap"), pcap(&unanswered(), 65_535)).unwrap();
    fs::write(folder.path().join("a_semantic.json"), "mine").unwrap();
    let output = ghost(&["pcap", "analyze", "a.pcap", "--out", "."], folder.path());
    assert!(output.status.success());
    assert_eq!(fs::read_to_string(folder.path().join("a_semantic.json")).unwrap(), "mine");
    assert!(folder.path().join("a.pcap_forensic_report.md").exists());
}
