//! Duplicate packets: a capture of both ports of a switch, or a network that duplicates packets.

use super::segment::Segment;
use crate::layers::IpPair;

/// How many packets are compared with; a copy follows closely.
const REMEMBERED_PACKETS: usize = 512;
/// Mixes bits; odd.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last packets, each as a mark of everything that a copy has in common with it, and when it was there.
#[derive(Debug, Clone)]
pub(crate) struct DuplicateDetector {
    slots: Box<[(u64, u64); REMEMBERED_PACKETS]>,
}

impl Default for DuplicateDetector {
    fn default() -> Self {
        Self { slots: Box::new([(0, 0); REMEMBERED_PACKETS]) }
    }
}

impl DuplicateDetector {
    /// Returns how long ago the same bytes were there, and remembers these.
    ///
    /// The checksum stands for what the segment carries. The time to live and the VLAN may differ: a router's both sides.
    pub(crate) fn time_since_copy(&mut self, net: IpPair, segment: &Segment<'_>, now: u64) -> Option<u64> {
        let mark = mark(net, segment);
        let slot = self.slots.get_mut(mark as usize % REMEMBERED_PACKETS)?;
        let (known, then) = std::mem::replace(slot, (mark, now));
        if known == mark { now.checked_sub(then) } else { None }
    }
}

fn mark(net: IpPair, segment: &Segment<'_>) -> u64 {
    let from = match net {
        IpPair::Four(from, to) => {
            (u64::from(u32::from_be_bytes(from)) << 32) | u64::from(u32::from_be_bytes(to))
        }
        IpPair::Six(from, to) => {
            let (from, to) = (u128::from_be_bytes(from), u128::from_be_bytes(to));
            let both = from ^ to.rotate_left(31);
            (both >> 64) as u64 ^ both as u64
        }
    };
    let (source, destination) = segment.ports;
    let ports = (u64::from(source) << 16) | u64::from(destination);
    let shape = (u64::from(segment.len.unwrap_or(u32::MAX)) << 24)
        | (u64::from(segment.flags) << 16)
        | (segment.win as u16) as u64;
    let bytes = (u64::from(segment.sum()) << 16) | u64::from(segment.id.unwrap_or(0));
    let numbers = (u64::from(segment.seq) << 32) | u64::from(segment.ack);
    let mut mixed = from ^ (ports << 7);
    for part in [numbers, shape ^ (bytes << 29)] {
        mixed = (mixed.rotate_left(23) ^ part).wrapping_mul(MIX);
    }
    // 0 stands for an empty slot.
    (mixed ^ (mixed >> 32)) | 1 << 63
}
