//! Who speaks in a capture, who is spoken to, and who answers pings.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::print::{ICMP, ICMP_SIX};
use super::seen::{Both, Which};
use crate::figure::Spread;
use crate::hash::Map;

/// How many pings may wait for an answer.
const MOST_OPEN: usize = 65_536;
/// A ping that was sent so shortly before the end may still be answered, in nanoseconds.
const PATIENCE: u64 = 1_000_000_000;

/// What is known of a host.
#[derive(Debug, Clone, Default)]
pub(super) struct Host {
    /// IP packets from it.
    pub(super) sent: u64,
    /// IP packets to it.
    pub(super) received: u64,
    /// Pings to it that there was time to answer.
    pub(super) pings: u64,
    /// Of those, not answered.
    pub(super) silent: u64,
    /// How long its answers took.
    pub(super) echoes: Spread,
}

/// A ping that waits for its answer.
#[derive(Debug, Clone, Copy)]
struct Asked {
    time: u64,
    way: u32,
    /// Some senders give all of them the same number.
    count: u64,
}

/// Returns what is known of each host in a capture.
pub(super) fn hosts(both: &Both, which: Which) -> BTreeMap<IpAddr, Host> {
    let shot = both.shot(which);
    let mut counts = vec![0_u64; both.ways.len()];
    let mut open: Map<(u32, u32), Asked> = Map::default();
    let mut hosts: BTreeMap<IpAddr, Host> = BTreeMap::new();
    for seen in &shot.seen {
        if let Some(count) = counts.get_mut(seen.way as usize) {
            *count += 1;
        }
        let Some(protocol) = both.lane_of(seen).map(|lane| lane.protocol) else {
            continue;
        };
        match (protocol, seen.flags) {
            (ICMP, 8) | (ICMP_SIX, 128) if open.len() < MOST_OPEN => {
                let asked =
                    open.entry((seen.lane, seen.seq)).or_insert(Asked { time: 0, way: seen.way, count: 0 });
                asked.time = seen.time;
                asked.count += 1;
            }
            (ICMP, 0) | (ICMP_SIX, 129) => {
                let key = (seen.lane ^ 1, seen.seq);
                let Some(asked) = open.get_mut(&key) else {
                    continue;
                };
                let time = asked.time;
                asked.count -= 1;
                if asked.count == 0 {
                    open.remove(&key);
                }
                if let (Some((source, _)), Some(took)) = (both.ends_of(seen.way), seen.time.checked_sub(time))
                {
                    let host = hosts.entry(source).or_default();
                    host.pings += 1;
                    host.echoes.add(took);
                }
            }
            _ => {}
        }
    }
    for Asked { time, way, count } in open.into_values() {
        if time.saturating_add(PATIENCE) <= shot.last
            && let Some((_, destination)) = both.ends_of(way)
            && !destination.is_multicast()
        {
            let host = hosts.entry(destination).or_default();
            host.pings += count;
            host.silent += count;
        }
    }
    for (net, count) in both.ways.iter().zip(counts) {
        if count > 0 {
            hosts.entry(net.source()).or_default().sent += count;
            hosts.entry(net.destination()).or_default().received += count;
        }
    }
    hosts
}
