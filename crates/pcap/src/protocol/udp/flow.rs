//! Datagrams between two ends.

use std::net::{IpAddr, SocketAddr};

use crate::protocol::quic::ConnectionAttempt;
use crate::tcp::EndpointPair;

/// How long an answer may take, in nanoseconds.
const ANSWER_TIMEOUT: u64 = 1_000_000_000;

/// The ports on which nothing comes back, or somebody else tells what does: names, addresses, traps, logs, flow records, samples,
/// discovery, tunnels, whose return paths use other ports.
#[rustfmt::skip]
const UNIDIRECTIONAL_PORTS: [u16; 31] = [
    9, 53, 67, 68, 69, 123, 137, 138, 162, 514, 520, 546, 547, 1900, 2055, 2152, 3544, 3702, 4341, 4739, 4754, 4789, 5353,
    5355, 6081, 6343, 6635, 8125, 9995, 9996, 12_201,
];
/// Where a trace of the route asks for answers of another kind.
const TRACEROUTE_PORTS: std::ops::RangeInclusive<u16> = 33_434..=33_534;

/// What one end sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SentCounts {
    /// Datagrams.
    pub(crate) packets: u32,
    /// Bytes that they carried.
    pub(crate) bytes: u64,
}

/// A conversation.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Flow {
    pub(super) ends: EndpointPair,
    /// The first datagram came from the second end.
    pub(super) flipped: bool,
    pub(super) touched: bool,
    pub(super) first_frame: u64,
    pub(super) first_time: u64,
    pub(super) last_time: u64,
    /// In the order of the ends.
    pub(super) sides: [SentCounts; 2],
    /// What was said of QUIC.
    pub(in crate::protocol) quic: Option<Box<ConnectionAttempt>>,
}

impl Flow {
    pub(super) fn new(ends: EndpointPair, flipped: bool, frame: u64, time: u64) -> Self {
        Self {
            ends,
            flipped,
            touched: false,
            first_frame: frame,
            first_time: time,
            last_time: time,
            sides: [SentCounts::default(); 2],
            quic: None,
        }
    }

    /// Tells whether a datagram was taken.
    pub(super) fn used(&self) -> bool {
        self.sides.iter().any(|side| side.packets > 0)
    }

    pub(super) fn take(&mut self, flipped: bool, wire: usize, time: u64) {
        let [first, second] = &mut self.sides;
        let own = if flipped { second } else { first };
        own.packets = own.packets.saturating_add(1);
        own.bytes += wire as u64;
        self.last_time = time;
    }

    /// Returns the end that spoke first, the other one, and what each sent.
    pub(super) fn ends(&self) -> ((SocketAddr, SentCounts), (SocketAddr, SentCounts)) {
        let (first, second) = self.ends.sockets();
        let [one, two] = self.sides;
        if self.flipped { ((second, two), (first, one)) } else { ((first, one), (second, two)) }
    }

    /// Returns the first or the second end.
    pub(in crate::protocol) fn end(&self, second: bool) -> SocketAddr {
        let (first, other) = self.ends.sockets();
        if second { other } else { first }
    }

    /// Tells whether only one end spoke.
    pub(in crate::protocol) fn unidirectional(&self) -> bool {
        self.sides.iter().any(|side| side.packets == 0)
    }

    /// Tells whether one end alone spoke, though there was time for an answer; returns how often.
    pub(in crate::protocol) fn silence(&self, now: u64) -> Option<u32> {
        let waited = self.unidirectional() && now.saturating_sub(self.first_time) >= ANSWER_TIMEOUT;
        waited.then(|| self.sides.iter().map(|side| side.packets).sum())
    }

    /// Tells whether somebody asked one other host for something, and got no answer though there was time.
    pub(super) fn ignored(&self, now: u64) -> bool {
        let ((asker, _), (asked, _)) = self.ends();
        self.silence(now).is_some()
            // Services have the lower port: a lower one that speaks alone answers, and the questions were not captured.
            && asked.port() <= asker.port()
            && UNIDIRECTIONAL_PORTS.binary_search(&asked.port()).is_err()
            && !TRACEROUTE_PORTS.contains(&asked.port())
            && single(asked.ip())
    }
}

/// Tells whether an address is that of one host, as far as it tells.
fn single(address: IpAddr) -> bool {
    match address {
        // A network of usual size calls all of its hosts by the last address.
        IpAddr::V4(four) => !four.is_multicast() && !matches!(four.octets(), [.., 0 | 255]),
        IpAddr::V6(six) => !six.is_multicast(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_can_be_searched() {
        assert!(UNIDIRECTIONAL_PORTS.is_sorted());
    }
}
