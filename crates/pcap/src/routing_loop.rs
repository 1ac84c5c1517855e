//! Routing loops: packets that pass the capture point again and again, with a lower time to live each time.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::layers::{HeaderContext, IpPair, View};

/// How many packets are remembered; newer ones take the place of older ones.
const REMEMBERED_PACKETS: usize = 2048;
/// Maximum number of tracked address pairs.
const MAX_PAIRS: usize = 256;
const MAX_EVIDENCE_FRAMES: usize = 5;
/// How often a packet passes at most when it is captured at several places of one path.
const MIN_PASSES: u8 = 5;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug, Clone, Copy, Default)]
struct PacketSlot {
    tag: u64,
    /// The lower half of the number of the frame in which it was seen first; the rest follows from where it is seen again.
    frame: u32,
    hops: u8,
    hop_decreases: u8,
}

/// What ran in a circle between two addresses.
#[derive(Debug, Clone, Default)]
pub(super) struct RoutingLoop {
    pub(super) packets: u64,
    /// How often they passed after it was clear that they do.
    pub(super) passes: u64,
    /// The fewest hops that were left.
    pub(super) min_hops: u8,
    /// The first frames.
    pub(super) frames: Vec<u64>,
    /// The identification of the first packet, where there is one.
    pub(super) id: Option<u16>,
}

/// All circles.
#[derive(Debug, Clone, Default)]
pub(super) struct RoutingLoops {
    slots: Vec<PacketSlot>,
    /// By source and destination.
    pub(super) seen: BTreeMap<(IpAddr, IpAddr), RoutingLoop>,
    /// Packets between pairs for which there was no room.
    pub(super) left_out: u64,
}

impl RoutingLoops {
    /// Takes a packet from its IP header on.
    pub(super) fn take(&mut self, packet: View<'_>, context: &HeaderContext, frame: u64) {
        let Some(tag) = tag(packet, context.net) else {
            return;
        };
        if self.slots.is_empty() {
            self.slots.resize(REMEMBERED_PACKETS, PacketSlot::default());
        }
        let Some(slot) = self.slots.get_mut((tag >> 53) as usize % REMEMBERED_PACKETS) else {
            return;
        };
        if slot.tag != tag || context.hops > slot.hops {
            *slot = PacketSlot { tag, frame: frame as u32, hops: context.hops, hop_decreases: 0 };
        } else if context.hops < slot.hops {
            slot.hops = context.hops;
            slot.hop_decreases = slot.hop_decreases.saturating_add(1);
            if slot.hop_decreases >= MIN_PASSES {
                let slot = *slot;
                self.again(slot, packet, context, frame);
            }
        }
    }

    fn again(&mut self, slot: PacketSlot, packet: View<'_>, context: &HeaderContext, frame: u64) {
        let pair = (context.net.source(), context.net.destination());
        if self.seen.len() >= MAX_PAIRS && !self.seen.contains_key(&pair) {
            self.left_out += 1;
            return;
        }
        let circle = self.seen.entry(pair).or_insert_with(|| RoutingLoop {
            min_hops: u8::MAX,
            id: matches!(context.net, IpPair::Four(..)).then(|| packet.u16(4)).flatten(),
            frames: vec![first(slot.frame, frame)],
            ..RoutingLoop::default()
        });
        circle.packets += u64::from(slot.hop_decreases == MIN_PASSES);
        circle.passes += 1;
        circle.min_hops = circle.min_hops.min(context.hops);
        // Frames of the first packet alone: the filter names it.
        if circle.packets == 1 && circle.frames.len() < MAX_EVIDENCE_FRAMES {
            circle.frames.push(frame);
        }
    }
}

/// Returns the whole number of an earlier frame of which only the lower half is known.
fn first(low: u32, now: u64) -> u64 {
    now - u64::from((now as u32).wrapping_sub(low))
}

/// Returns a number for what no router changes of a packet, or nothing where too little of it was captured.
fn tag(packet: View<'_>, net: IpPair) -> Option<u64> {
    let (ends, header, data) = match net {
        IpPair::Four(from, to) => {
            let size = usize::from(packet.u8(0)? & 15) * 4;
            let ends = (u64::from(u32::from_be_bytes(from)) << 32) | u64::from(u32::from_be_bytes(to));
            // Length, identification, fragment, protocol.
            let header = (u64::from(packet.u32(2)?) << 24)
                | (u64::from(packet.u16(6)?) << 8)
                | u64::from(packet.u8(9)?);
            (ends, header, packet.bytes(size)?)
        }
        IpPair::Six(from, to) => {
            let half = |address: u128| (address as u64) ^ ((address >> 64) as u64).wrapping_mul(MIX);
            let (from, to) = (half(u128::from_be_bytes(from)), half(u128::from_be_bytes(to)));
            // Flow label, length, next header.
            let header = (u64::from(packet.u32(0)? & 0xf_ffff) << 32) | u64::from(packet.u32(4)? >> 8);
            (from.rotate_left(32) ^ to, header, packet.bytes(40)?)
        }
    };
    let mixed = ends.wrapping_mul(MIX)
        ^ header.wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(21)
        ^ u64::from_be_bytes(data).wrapping_mul(0x94d0_49bb_1331_11eb).rotate_left(42);
    Some((mixed ^ (mixed >> 32)).wrapping_mul(MIX) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A datagram with an identification and a time to live.
    fn packet(id: u8, hops: u8) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 28, 0, id, 0x40, 0, hops, 17, 0, 0, 10, 0, 0, 1, 10, 0, 9, 9];
        packet.extend([0x9c, 0x40, 0, 53, 0, 8, 0, 0]);
        packet
    }

    fn circles(packets: &[(u8, u8)]) -> RoutingLoops {
        let mut circles = RoutingLoops::default();
        for (frame, (id, hops)) in (1..).zip(packets) {
            let bytes = packet(*id, *hops);
            let context = HeaderContext {
                net: IpPair::Four([10, 0, 0, 1], [10, 0, 9, 9]),
                hops: *hops,
                ..HeaderContext::default()
            };
            circles.take(View::new(&bytes, bytes.len()), &context, frame);
        }
        circles
    }

    #[test]
    fn a_packet_that_comes_back_with_fewer_hops_runs_in_a_circle() {
        let found = circles(&[(7, 60), (8, 60), (7, 58), (7, 56), (7, 54), (7, 52), (7, 50), (7, 48)]);
        let circle = found.seen.values().next().unwrap();
        assert_eq!((circle.packets, circle.passes, circle.min_hops, circle.id), (1, 2, 48, Some(7)));
        assert_eq!(circle.frames, [1, 7, 8]);
    }

    #[test]
    fn a_packet_that_is_captured_at_each_of_five_hops_does_not() {
        assert!(circles(&[(7, 64), (7, 63), (7, 62), (7, 61), (7, 60)]).seen.is_empty());
    }

    #[test]
    fn other_packets_and_copies_are_no_circle() {
        let others: Vec<(u8, u8)> = (0..60).map(|id| (id, 64 - id)).collect();
        assert!(circles(&others).seen.is_empty());
        assert!(circles(&[(7, 64); 40]).seen.is_empty());
    }

    #[test]
    fn a_flood_of_pairs_is_remembered_in_bounded_memory() {
        let mut circles = RoutingLoops::default();
        for host in 0..1000_u16 {
            let [high, low] = host.to_be_bytes();
            let net = IpPair::Four([10, 1, high, low], [10, 0, 9, 9]);
            for hops in (1..=20).rev() {
                let bytes = packet(low, hops);
                let context = HeaderContext { net, hops, ..HeaderContext::default() };
                circles.take(View::new(&bytes, bytes.len()), &context, 1);
            }
        }
        assert_eq!((circles.seen.len(), circles.slots.len()), (MAX_PAIRS, REMEMBERED_PACKETS));
        assert_eq!(circles.left_out, (1000 - MAX_PAIRS as u64) * 15);
    }
}
