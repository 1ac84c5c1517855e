//! How each service fares: a total hides the one that got worse.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::histogram::Histogram;
use crate::tcp::Flow;

/// How many services are distinguished; the others are one.
const MAX_SERVICES: usize = 4096;

/// What is known of a service, or of all together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Service {
    /// Connections.
    pub(super) flows: u64,
    /// Connections whose SYN was seen.
    pub(super) asked: u64,
    /// Of those, never accepted.
    pub(super) failed: u64,
    /// Of those, refused.
    pub(super) refused: u64,
    /// Packets that carried something.
    pub(super) carrying: u64,
    /// Of those, sent again.
    pub(super) again: u64,
    /// From the SYN to the first acknowledgment.
    pub(super) handshakes: Histogram,
    /// Round trips by Karn's rule.
    pub(super) rtts: Histogram,
}

/// All services of a capture.
#[derive(Debug, Clone, Default)]
pub(crate) struct Services {
    /// Together.
    pub(super) all: Service,
    pub(super) each: BTreeMap<SocketAddr, Service>,
    /// Connections to services that have no place of their own.
    pub(super) pooled: u64,
}

impl Services {
    /// Adds a finished stream.
    pub(crate) fn take(&mut self, flow: &Flow) {
        if flow.first_frame == 0 {
            return;
        }
        self.all.take(flow);
        let (first, second) = flow.ends.sockets();
        // Without a SYN it is the end with the lower port that is asked.
        let asked_first = if flow.turns.asked { flow.flipped } else { first.port() < second.port() };
        let server = if asked_first { first } else { second };
        if self.each.len() >= MAX_SERVICES && !self.each.contains_key(&server) {
            self.pooled += 1;
            return;
        }
        self.each.entry(server).or_default().take(flow);
    }
}

impl Service {
    fn take(&mut self, flow: &Flow) {
        self.flows += 1;
        let turns = flow.turns;
        self.asked += u64::from(turns.asked);
        self.failed += u64::from(turns.asked && !turns.accepted);
        self.refused += u64::from(turns.refused);
        for side in &flow.sides {
            self.carrying += u64::from(side.carrying);
            self.again += u64::from(side.again);
        }
        if let Some(rtt) = flow.handshake() {
            self.handshakes.add(rtt);
        }
        if let Some([one, two]) = flow.rtts.as_deref() {
            // The farther end's: the nearer one's say little of the path.
            self.rtts.join(if two.percentile(50) > one.percentile(50) { two } else { one });
        }
    }
}
