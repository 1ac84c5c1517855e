//! Which packets were seen at both places.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use super::print::{Print, Printer};
use crate::pcap::hash::{Map, Seeded};
use crate::pcap::read::Frame;

/// How many packets of the first capture are remembered. Of longer ones the beginning is compared, and the answer says so.
const MOST_PACKETS: u64 = 4_000_000;
/// How many pairs of addresses are told apart.
const MOST_DIRECTIONS: usize = 65_536;

/// Packets at both places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Packets {
    /// In the first capture.
    pub a: u64,
    /// In the second.
    pub b: u64,
    /// In both.
    pub both: u64,
    /// In the first alone.
    pub only_a: u64,
    /// In the second alone.
    pub only_b: u64,
}

/// Packets from one address to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Direction {
    /// The source.
    pub src: IpAddr,
    /// The destination.
    pub dst: IpAddr,
    /// How many were seen where.
    #[serde(flatten)]
    pub packets: Packets,
    /// The least that the second clock said later than the first, in milliseconds: the way, and what the clocks differ by.
    pub later_ms: Option<f64>,
}

#[derive(Debug, Default)]
struct Way {
    packets: Packets,
    later: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    left: u32,
    time: u64,
}

/// Joins two captures: first all of one, then all of the other.
#[derive(Debug)]
pub(super) struct Join {
    first: Printer,
    second: Printer,
    seen: Map<u64, Seen>,
    ways: Map<(IpAddr, IpAddr), Way>,
    skipped: u64,
}

impl Join {
    /// Begins; at most so many bytes behind an IP header are held by both captures.
    pub(super) fn new(most: usize) -> Self {
        let seeded = Seeded::default();
        Self {
            first: Printer::new(seeded.clone(), most),
            second: Printer::new(seeded, most),
            seen: Map::default(),
            ways: Map::default(),
            skipped: 0,
        }
    }

    /// Takes a frame of the first capture.
    pub(super) fn first(&mut self, frame: &Frame<'_>) {
        let Some(print) = self.first.print(frame) else {
            return;
        };
        if self.seen.len() as u64 >= MOST_PACKETS {
            self.skipped += 1;
            return;
        }
        let seen = self.seen.entry(print.mark).or_insert(Seen { left: 0, time: frame.time });
        seen.left = seen.left.saturating_add(1);
        if let Some(way) = self.way(&print) {
            way.packets.a += 1;
        }
    }

    /// Takes a frame of the second one.
    pub(super) fn second(&mut self, frame: &Frame<'_>) {
        let Some(print) = self.second.print(frame) else {
            return;
        };
        let met = self.seen.get_mut(&print.mark).filter(|seen| seen.left > 0).map(|seen| {
            seen.left -= 1;
            frame.time.wrapping_sub(seen.time) as i64
        });
        let Some(way) = self.way(&print) else {
            return;
        };
        way.packets.b += 1;
        if let Some(later) = met {
            way.packets.both += 1;
            way.later = Some(way.later.map_or(later, |known| known.min(later)));
        }
    }

    fn way(&mut self, print: &Print) -> Option<&mut Way> {
        let ends = (print.net.source(), print.net.destination());
        if self.ways.len() >= MOST_DIRECTIONS && !self.ways.contains_key(&ends) {
            self.skipped += 1;
            return None;
        }
        Some(self.ways.entry(ends).or_default())
    }

    /// Returns all packets together, those of each direction with most trouble first, and how many were left out.
    pub(super) fn finish(self) -> (Packets, Vec<Direction>, u64) {
        let sorted: BTreeMap<(IpAddr, IpAddr), Way> = self.ways.into_iter().collect();
        let mut directions: Vec<Direction> = sorted
            .into_iter()
            .map(|((src, dst), Way { packets, later })| Direction {
                src,
                dst,
                packets: Packets {
                    only_a: packets.a.saturating_sub(packets.both),
                    only_b: packets.b.saturating_sub(packets.both),
                    ..packets
                },
                later_ms: later.map(|nanos| (nanos as f64 / 1000.0).round() / 1000.0),
            })
            .collect();
        directions.sort_by_key(|way| std::cmp::Reverse(way.packets.only_a + way.packets.only_b));
        let all = directions.iter().fold(Packets::default(), |sum, way| sum.plus(way.packets));
        (all, directions, self.skipped)
    }
}

impl Packets {
    fn plus(self, other: Self) -> Self {
        Self {
            a: self.a + other.a,
            b: self.b + other.b,
            both: self.both + other.both,
            only_a: self.only_a + other.only_a,
            only_b: self.only_b + other.only_b,
        }
    }
}
