//! Which packets were seen where, by source and destination: everything both captures hold, whenever it was.

use std::net::IpAddr;

use serde::Serialize;

use super::capture::{Captures, NONE};
use super::matching::PacketMatches;
use super::path::milli;

/// Packets at both places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PacketCounts {
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
    pub packets: PacketCounts,
    /// The least that the second clock said later than the first, in milliseconds: the path, and what the clocks differ by.
    pub later_ms: Option<f64>,
}

/// Returns all packets together, and those of each direction with most trouble first.
pub(super) fn directions(captures: &Captures, join: &PacketMatches) -> (PacketCounts, Vec<Direction>) {
    let mut address_pairs = vec![(PacketCounts::default(), None::<i64>); captures.address_pairs.len()];
    for (one, other) in captures.a.seen.iter().zip(&join.a) {
        let Some((packets, least)) = address_pairs.get_mut(one.address_pair as usize) else {
            continue;
        };
        packets.a += 1;
        if let Some(other) = captures.b.seen.get(*other as usize).filter(|_| *other != NONE) {
            packets.both += 1;
            let later = other.time.wrapping_sub(one.time) as i64;
            *least = Some(least.map_or(later, |least| least.min(later)));
        }
    }
    for other in &captures.b.seen {
        if let Some((packets, _)) = address_pairs.get_mut(other.address_pair as usize) {
            packets.b += 1;
        }
    }
    let mut all = PacketCounts::default();
    let mut found: Vec<Direction> = captures
        .address_pairs
        .iter()
        .zip(address_pairs)
        .map(|(net, (packets, later))| Direction {
            src: net.source(),
            dst: net.destination(),
            packets: PacketCounts {
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
    found.sort_by_key(|address_pair| {
        (
            std::cmp::Reverse((
                address_pair.packets.only_a + address_pair.packets.only_b,
                address_pair.packets.a,
            )),
            address_pair.src,
            address_pair.dst,
        )
    });
    (all, found)
}
