//! Laws that hold for any two captures, and captures that nobody makes.

use std::collections::BTreeSet;

use ghost_pcap::{PathVerdict, compare};

use super::path::{START, arrives, between, compared, connection, places};
use crate::pcap::capture::{End, Timed, pcap};
use crate::pcap::talk;
use crate::random::{Random, is_long, seed};

fn rounds() -> usize {
    if is_long() { 2_000 } else { 60 }
}

#[test]
fn a_capture_beside_itself_is_clean() {
    let mut random = Random::new(seed("pcap itself"));
    for _ in 0..rounds() {
        let talk = talk::conversations(&mut random);
        let pair = compared(&talk, &talk);
        assert_eq!(pair.packets.both, pair.packets.a);
        assert_eq!((pair.packets.only_a, pair.packets.only_b), (0, 0));
        assert_eq!((pair.path.to_a.lost, pair.path.to_b.lost, pair.path.clock.offset_ms), (0, 0, 0.0));
        assert!(
            !matches!(pair.path.verdict, PathVerdict::PartialDrop | PathVerdict::FullDrop),
            "{:?}",
            pair.path
        );
        assert!(pair.new.is_empty() && pair.resolved.is_empty());
    }
}

#[test]
fn what_is_taken_away_is_lost_no_more_and_no_less_whatever_the_clock_says() {
    let mut random = Random::new(seed("pcap taken away"));
    for _ in 0..rounds() {
        let client = End { host: 4, port: 40_000 + u16::try_from(random.below(999)).unwrap() };
        let all = connection(
            client,
            End { host: 9, port: 443 },
            50 + u32::try_from(random.below(200)).unwrap(),
            START,
        );
        // The first and the last packets say when B captured.
        let gone: BTreeSet<usize> = (0..random.below(9)).map(|_| 20 + random.below(all.len() - 40)).collect();
        let ahead = i64::try_from(random.below(10_000_000_000)).unwrap() - 5_000_000_000;
        let pair = between(&all, ahead, &|number, packet| {
            arrives(number, packet).filter(|_| !gone.contains(&number))
        });
        let path = &pair.path;
        assert_eq!(path.to_a.lost + path.to_b.lost, gone.len() as u64, "{gone:?}");
        assert_eq!(pair.packets.both as usize, all.len() - gone.len());
        let off = (path.clock.offset_ms - ahead as f64 / 1000.0).abs();
        assert!(off <= path.clock.uncertain_ms.unwrap() + 0.001, "{:?}", path.clock);
        assert_eq!(
            path.verdict,
            if gone.is_empty() { PathVerdict::CleanPath } else { PathVerdict::PartialDrop }
        );
    }
}

#[test]
fn the_order_in_which_packets_were_written_changes_nothing() {
    let mut random = Random::new(seed("pcap order"));
    for _ in 0..rounds() {
        let all = connection(End { host: 4, port: 40_000 }, End { host: 9, port: 443 }, 80, START);
        let (a, b) = places(&all, 42_000, &|number, packet| arrives(number, packet).filter(|_| number != 50));
        let mut mixed = b.clone();
        for _ in 0..20 {
            let at = random.below(mixed.len() - 1);
            mixed.swap(at, at + 1);
        }
        let (one, other) = (compared(&a, &b).path, compared(&a, &mixed).path);
        assert_eq!((one.to_b.lost + one.to_a.lost, other.to_b.lost + other.to_a.lost), (1, 1));
        assert_eq!(one.clock.offset_ms.to_bits(), other.clock.offset_ms.to_bits());
    }
}

#[test]
fn damaged_and_unrelated_captures_are_compared_without_a_panic() {
    let mut random = Random::new(seed("pcap damaged pairs"));
    for round in 0..rounds() {
        let files = [0, 1].map(|_| {
            let mut talk: Vec<Timed> = talk::conversations(&mut random);
            for (time, frame) in &mut talk {
                if random.below(3) == 0 {
                    let at = random.below(frame.len());
                    *frame.get_mut(at).unwrap() = random.next() as u8;
                }
                if random.below(20) == 0 {
                    *time = u64::from(random.next() as u32) * 1_000_000;
                }
            }
            let mut file = pcap(&talk, if random.below(2) == 0 { 65_535 } else { 40 });
            file.truncate(file.len() - random.below(100));
            file
        });
        let pair =
            compare(|which| Ok(std::io::Cursor::new(files.get(which).unwrap().clone())), round % 2 == 0);
        let pair = pair.unwrap();
        assert_eq!(pair.packets.a, pair.packets.both + pair.packets.only_a);
        assert_eq!(pair.packets.b, pair.packets.both + pair.packets.only_b);
        assert!(serde_json::to_string(&pair).is_ok());
    }
}

#[test]
fn the_comparison_stays_short_whatever_there_is_to_tell() {
    let mut all = Vec::new();
    for number in 0..600_u16 {
        let client = End { host: (number % 250) as u8, port: 40_000 + number };
        let server = End { host: (number % 97) as u8 + 100, port: 80 + number };
        all.extend(connection(client, server, 5, START + u64::from(number) * 5000));
    }
    let pair = between(&all, 0, &|number, packet| arrives(number, packet).filter(|_| number % 7 != 3));
    let text = serde_json::to_string(&pair).unwrap();
    assert!(text.len() < 24_000, "{}", text.len());
    assert!(pair.path.flows.len() > 2);
}
