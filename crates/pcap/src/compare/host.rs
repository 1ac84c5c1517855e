//! Who speaks in a capture, who is spoken to, and who answers pings.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::capture::{CaptureSide, Captures};
use super::fingerprint::{ICMP, ICMP_SIX};
use crate::hash::Map;
use crate::histogram::Histogram;

/// How many pings may wait for an answer.
const MAX_OPEN_ECHOES: usize = 65_536;
/// A ping that was sent so shortly before the end may still be answered, in nanoseconds.
const ANSWER_TIMEOUT: u64 = 1_000_000_000;

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
    pub(super) echoes: Histogram,
}

/// A ping that waits for its answer.
#[derive(Debug, Clone, Copy)]
struct OpenEcho {
    time: u64,
    address_pair: u32,
    /// Some senders give all of them the same number.
    count: u64,
}

/// Returns what is known of each host in a capture.
pub(super) fn hosts(captures: &Captures, which: CaptureSide) -> BTreeMap<IpAddr, Host> {
    let capture = captures.capture(which);
    let mut counts = vec![0_u64; captures.address_pairs.len()];
    let mut open: Map<(u32, u32), OpenEcho> = Map::default();
    let mut hosts: BTreeMap<IpAddr, Host> = BTreeMap::new();
    for seen in &capture.seen {
        if let Some(count) = counts.get_mut(seen.address_pair as usize) {
            *count += 1;
        }
        let Some(protocol) = captures.conversation_of(seen).map(|conversation| conversation.protocol) else {
            continue;
        };
        match (protocol, seen.flags) {
            (ICMP, 8) | (ICMP_SIX, 128) if open.len() < MAX_OPEN_ECHOES => {
                let asked = open.entry((seen.conversation, seen.seq)).or_insert(OpenEcho {
                    time: 0,
                    address_pair: seen.address_pair,
                    count: 0,
                });
                asked.time = seen.time;
                asked.count += 1;
            }
            (ICMP, 0) | (ICMP_SIX, 129) => {
                let key = (seen.conversation ^ 1, seen.seq);
                let Some(asked) = open.get_mut(&key) else {
                    continue;
                };
                let time = asked.time;
                asked.count -= 1;
                if asked.count == 0 {
                    open.remove(&key);
                }
                if let (Some((source, _)), Some(took)) =
                    (captures.ends_of(seen.address_pair), seen.time.checked_sub(time))
                {
                    let host = hosts.entry(source).or_default();
                    host.pings += 1;
                    host.echoes.add(took);
                }
            }
            _ => {}
        }
    }
    for OpenEcho { time, address_pair, count } in open.into_values() {
        if time.saturating_add(ANSWER_TIMEOUT) <= capture.last
            && let Some((_, destination)) = captures.ends_of(address_pair)
            && !destination.is_multicast()
        {
            let host = hosts.entry(destination).or_default();
            host.pings += count;
            host.silent += count;
        }
    }
    for (net, count) in captures.address_pairs.iter().zip(counts) {
        if count > 0 {
            hosts.entry(net.source()).or_default().sent += count;
            hosts.entry(net.destination()).or_default().received += count;
        }
    }
    hosts
}
