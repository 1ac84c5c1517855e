//! Packets that ran out of hops: on purpose, to find the path, or because they run in a circle.

use std::net::IpAddr;

use super::echo::group;
use crate::hash::Map;
use crate::layers::IpPair;

/// How many pairs of source and destination are distinguished.
const MAX_PATHS: usize = 1024;
/// How many routers of one path are remembered.
const MAX_ROUTERS: usize = 32;
const MAX_EVIDENCE_FRAMES: usize = 5;
/// Who searches for the path sends packets with fewer hops than this.
const MAX_PROBE_TTL: u8 = 32;
/// How many steps upward are no accident.
const MIN_TTL_STEPS: u32 = 2;

/// A router on the path.
#[derive(Debug, Clone)]
pub(crate) struct Router {
    pub(crate) address: IpAddr,
    /// How often it said that a packet ran out of hops.
    pub(crate) count: u64,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
}

/// What is known of the path from a source to a destination.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traceroute {
    /// Routers at which packets ran out of hops, in the order in which they said so first.
    pub(crate) routers: Vec<Router>,
    /// Times to live that went up by one from packet to packet, and down.
    up: u32,
    down: u32,
    hops: u8,
    /// Ports that went up by one from complaint to complaint.
    ports: u32,
    port: u16,
}

/// All paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traceroutes {
    /// From whom to whom.
    pub(crate) paths: Map<IpPair, Traceroute>,
    /// Complaints and packets for which there was no room.
    pub(crate) left_out: u64,
}

impl Traceroutes {
    /// Takes a packet that has few hops left.
    #[inline]
    pub(crate) fn packet(&mut self, net: IpPair, hops: u8) {
        if hops < MAX_PROBE_TTL {
            self.probe(net, hops);
        }
    }

    fn probe(&mut self, net: IpPair, hops: u8) {
        if group(net.destination()) {
            return;
        }
        let Some(trace) = self.path(net) else {
            return;
        };
        trace.up += u32::from(trace.hops > 0 && hops == trace.hops + 1);
        trace.down += u32::from(hops < trace.hops && trace.hops - hops <= 2);
        trace.hops = hops;
    }

    /// Takes the complaint of a router about a packet that ran out of hops.
    pub(crate) fn exceeded(&mut self, from: IpAddr, net: IpPair, port: Option<u16>, frame: u64) {
        let Some(trace) = self.path(net) else {
            return;
        };
        if let Some(port) = port {
            trace.ports += u32::from(trace.port > 0 && port == trace.port.wrapping_add(1));
            trace.port = port;
        }
        let context = match trace.routers.iter().position(|router| router.address == from) {
            Some(context) => context,
            None if trace.routers.len() >= MAX_ROUTERS => return,
            None => {
                trace.routers.push(Router { address: from, count: 0, frames: Vec::new() });
                trace.routers.len() - 1
            }
        };
        if let Some(router) = trace.routers.get_mut(context) {
            router.count += 1;
            if router.frames.len() < MAX_EVIDENCE_FRAMES {
                router.frames.push(frame);
            }
        }
    }

    fn path(&mut self, net: IpPair) -> Option<&mut Traceroute> {
        if self.paths.len() >= MAX_PATHS && !self.paths.contains_key(&net) {
            self.left_out += 1;
            return None;
        }
        Some(self.paths.entry(net).or_default())
    }
}

impl Traceroute {
    /// Tells whether somebody searches for the path. In a circle packets that start alike end at the same router; who searches for the
    /// path makes them end at one router after the other, with more hops from packet to packet, or numbers them by port.
    pub(crate) fn wanted(&self) -> bool {
        self.routers.len() > 1
            || self.ports >= MIN_TTL_STEPS
            || (self.up >= MIN_TTL_STEPS && self.up >= self.down)
    }
}
