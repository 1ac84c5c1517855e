//! How large packets may be on a path, and who sends larger ones all the same.

use std::net::IpAddr;

use crate::hash::Map;
use crate::layers::{IpPair, View};

/// Maximum number of tracked paths.
const MAX_PATHS: usize = 1024;
const MAX_EVIDENCE_FRAMES: usize = 5;
/// Packets in flight when the first complaint came may still be too large.
const GRACE_TIME: u64 = 200_000_000;

/// What routers say of the path from a source to a destination.
#[derive(Debug, Clone)]
pub(crate) struct PathMtu {
    /// Who said so first.
    pub(crate) from: IpAddr,
    /// The smallest next hop that was named; 0 for none.
    pub(crate) mtu: u32,
    /// How often it was said.
    pub(crate) count: u64,
    /// How often it was still said when the source could have known.
    pub(crate) late: u64,
    /// Packets that were larger when the source could have known.
    pub(crate) large: u64,
    /// The first complaints.
    pub(crate) frames: Vec<u64>,
    first: u64,
}

/// All limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathMtus {
    /// From whom to whom.
    pub(crate) paths: Map<IpPair, PathMtu>,
    /// Complaints for which there was no room.
    pub(crate) left_out: u64,
}

impl PathMtus {
    /// Takes a complaint.
    pub(crate) fn report(&mut self, from: IpAddr, net: IpPair, mtu: u32, (frame, time): (u64, u64)) {
        if self.paths.len() >= MAX_PATHS && !self.paths.contains_key(&net) {
            self.left_out += 1;
            return;
        }
        let limit = self.paths.entry(net).or_insert_with(|| PathMtu {
            from,
            mtu,
            count: 0,
            late: 0,
            large: 0,
            frames: Vec::new(),
            first: time,
        });
        limit.count += 1;
        limit.late += u64::from(time >= limit.first + GRACE_TIME);
        if mtu > 0 && (limit.mtu == 0 || mtu < limit.mtu) {
            limit.mtu = mtu;
        }
        if limit.frames.len() < MAX_EVIDENCE_FRAMES {
            limit.frames.push(frame);
        }
    }

    /// Takes a packet: where nobody complained there is nothing to do.
    #[inline]
    pub(crate) fn packet(&mut self, net: IpPair, packet: View<'_>, time: u64) {
        if !self.paths.is_empty()
            && let Some(limit) = self.paths.get_mut(&net)
            && limit.mtu > 0
            && packet.wire > limit.mtu as usize
            && time >= limit.first + GRACE_TIME
        {
            limit.large += 1;
        }
    }
}

impl PathMtu {
    /// Returns how often the source ignored the reported limit.
    pub(crate) fn ignored(&self) -> u64 {
        self.late.max(self.large)
    }
}
