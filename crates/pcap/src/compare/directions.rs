//! Which packets were seen where, by source and destination: everything both captures hold, whenever it was.

use std::net::IpAddr;

use serde::Serialize;

use super::join::Join;
use super::path::milli;
use super::seen::{Both, NONE};

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

/// Returns all packets together, and those of each direction with most trouble first.
pub(super) fn directions(both: &Both, join: &Join) -> (Packets, Vec<Direction>) {
    let mut ways = vec![(Packets::default(), None::<i64>); both.ways.len()];
    for (one, other) in both.a.seen.iter().zip(&join.a) {
        let Some((packets, least)) = ways.get_mut(one.way as usize) else {
            continue;
        };
        packets.a += 1;
        if let Some(other) = both.b.seen.get(*other as usize).filter(|_| *other != NONE) {
            packets.both += 1;
            let later = other.time.wrapping_sub(one.time) as i64;
            *least = Some(least.map_or(later, |least| least.min(later)));
        }
    }
    for other in &both.b.seen {
        if let Some((packets, _)) = ways.get_mut(other.way as usize) {
            packets.b += 1;
        }
    }
    let mut all = Packets::default();
    let mut found: Vec<Direction> = both
        .ways
        .iter()
        .zip(ways)
        .map(|(net, (packets, later))| Direction {
            src: net.source(),
            dst: net.destination(),
            packets: Packets {
                only_a: packets.a - packets.both,
                only_b: packets.b - packets.both,
                ..packets
            },
            later_ms: later.map(milli),
        })
        .collect();
    for Direction { packets, .. } in &found {
        all.a += packets.a;
        all.b += packets.b;
        all.both += packets.both;
        all.only_a += packets.only_a;
        all.only_b += packets.only_b;
    }
    found.sort_by_key(|way| {
        (std::cmp::Reverse((way.packets.only_a + way.packets.only_b, way.packets.a)), way.src, way.dst)
    });
    (all, found)
}
