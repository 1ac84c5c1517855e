//! Bytes that nobody sends: an account or an error, never a panic.

use ghost_pcap::{Analyzer, Format, Frame, ReadSummary, Scope, frames, markdown};

use super::capture::{End, dns, pcap, udp};
use super::mutate::Corpus;
use super::talk;
use crate::random::{Random, is_long, seed};

/// Every link type that is looked into, and one that is not.
const LINKS: [u16; 17] = [0, 1, 9, 12, 14, 50, 51, 101, 104, 108, 113, 147, 228, 229, 239, 276, 65_535];
/// Bytes that begin a header of some kind, so that chance gets further than the first layer.
const BEGINNINGS: [&[u8]; 8] = [
    &[0x45, 0, 0, 60, 0, 1, 0, 0, 64, 6],
    &[0x45, 0, 0, 60, 0, 1, 0x20, 0, 64, 17],
    &[0x60, 0, 0, 0, 0, 40, 44, 64],
    &[0x81, 0, 0, 1, 0x08, 0],
    &[0x88, 0x47, 0, 1, 0x11, 64],
    &[0x12, 0xb5, 0x12, 0xb5, 0, 90, 0, 0, 8, 0, 0, 0],
    &[0x20, 0, 0x88, 0xbe],
    &[3, 4, 0, 0, 0, 0, 0, 0, 0x45, 0],
];

fn rounds() -> usize {
    if is_long() { 1_000_000 } else { 20_000 }
}

#[test]
fn frames_of_any_bytes_are_walked_through() {
    let mut random = Random::new(seed("pcap frames"));
    let mut analyzer = Analyzer::new(Scope::default());
    for round in 0..rounds() {
        let mut data = Vec::new();
        for _ in 0..random.below(8) {
            data.extend_from_slice(random.pick::<&[u8]>(&BEGINNINGS));
            data.extend((0..random.below(24)).map(|_| random.next() as u8));
        }
        let (time, link) = (random.next() >> 8, *random.pick(&LINKS));
        let wire = data.len() + random.below(3) * 40;
        analyzer.feed(&Frame { number: round as u64 + 1, time, interface: 0, link, wire, data: &data });
    }
    let ending = frames(&pcap(&[], 1)[..], |_| {}).unwrap();
    let summary = analyzer.finish(&ending);
    assert_eq!(summary.file.packets, rounds() as u64);
    assert!(!markdown(&summary, "any").is_empty());
}

#[test]
fn captures_of_every_kind_are_damaged_and_read() {
    let corpus = Corpus::load(None);
    let mut random = Random::new(seed("pcap corpus"));
    let mut input = Vec::new();
    let mut analyzer = Analyzer::new(Scope::default());
    for round in 0..rounds() {
        if round % 8 == 0 {
            corpus.file(&mut random, &mut input);
            let mut analyzer = Analyzer::new(Scope::default());
            let ending = frames(&input[..], |frame| {
                analyzer.feed(frame);
            });
            drop(ending.map(|ending| markdown(&analyzer.finish(&ending), "any")));
        } else {
            let link = corpus.frame(&mut random, &mut input);
            let (number, time, wire) = (round as u64 + 1, round as u64 * 1000, input.len());
            analyzer.feed(&Frame { number, time, interface: 0, link, wire, data: &input });
        }
    }
    let counts = analyzer.finish(&ReadSummary::new(Format::Pcap)).counts;
    for kind in ["tcp", "udp", "icmp", "icmpv6", "arp", "dns", "syn", "retransmission"] {
        assert!(counts.get(kind).unwrap() > &0, "{kind}");
    }
}

#[test]
fn damaged_captures_are_read_as_far_as_they_go() {
    let mut random = Random::new(seed("pcap files"));
    let asker = End { host: 1, port: 5000 };
    let server = End { host: 2, port: 53 };
    for _ in 0..rounds() / 20 {
        let mut all = talk::conversations(&mut random);
        all.truncate(30);
        all.push((1_800_000_000_000_000, udp(asker, server, &dns(1, false, 0, b"\x01a"))));
        let mut file = pcap(&all, 65_535);
        for _ in 0..random.below(6) {
            let at = random.below(file.len());
            *file.get_mut(at).unwrap() = random.next() as u8;
        }
        file.truncate(file.len() - random.below(200).min(file.len()));
        let mut analyzer = Analyzer::new(Scope { full: true, ..Scope::default() });
        let mut seen = 0_u64;
        // What is no capture any more is refused, which is an answer as well.
        let Ok(ending) = frames(&file[..], |frame| {
            seen += 1;
            analyzer.feed(frame);
        }) else {
            continue;
        };
        let summary = analyzer.finish(&ending);
        assert_eq!(summary.file.packets, seen);
        assert!(serde_json::to_string(&summary).is_ok());
    }
}
