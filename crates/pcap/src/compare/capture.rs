//! The packets of both captures as fingerprints, and their conversations.

use std::net::{IpAddr, SocketAddr};

use super::fingerprint::{Fingerprint, Fingerprinter, ICMP, ICMP_SIX, TCP};
use crate::hash::{Map, Seeded};
use crate::layers::IpPair;
use crate::read::Frame;
use crate::tcp::EndpointPair;

/// How many packets of each capture are remembered. Of longer ones the beginning is compared, and the answer says so.
pub(super) const MAX_PACKETS: usize = 2_000_000;
/// Maximum number of tracked address pairs.
const MAX_ADDRESS_PAIRS: usize = 65_536;
/// Maximum number of tracked conversations.
const MAX_CONVERSATIONS: usize = 131_072;

/// No place, no partner.
pub(super) const NONE: u32 = u32::MAX;

/// Which capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaptureSide {
    /// The first.
    A,
    /// The second.
    B,
}

impl CaptureSide {
    /// Returns the other one.
    pub(super) fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Picks of two what belongs to it.
    pub(super) fn of<T>(self, a: T, b: T) -> T {
        match self {
            Self::A => a,
            Self::B => b,
        }
    }

    /// Its name in answers.
    pub(super) fn name(self) -> &'static str {
        self.of("A", "B")
    }
}

/// A packet at one of both places.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketRecord {
    /// When, by the clock of that place.
    pub(super) time: u64,
    /// Its fingerprint.
    pub(super) mark: u64,
    /// The one that translators leave alone.
    pub(super) core: u64,
    pub(super) frame: u32,
    /// Its pair of addresses.
    pub(super) address_pair: u32,
    /// Its conversation, twice, and one more where the second end sent it.
    pub(super) conversation: u32,
    /// The number of a TCP segment.
    pub(super) seq: u32,
    /// How much it carries.
    pub(super) len: u32,
    /// The identification.
    pub(super) id: u16,
    /// The largest segment that a SYN offers.
    pub(super) mss: u16,
    /// The transport's checksum.
    pub(super) check: u16,
    pub(super) vlan: u16,
    /// Time to live.
    pub(super) hops: u8,
    /// Type of service.
    pub(super) tos: u8,
    /// Flags of TCP.
    pub(super) flags: u8,
    /// Data that was sent before.
    pub(super) again: bool,
}

/// A conversation: two ends of one protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConversationEntry {
    /// The protocol's number.
    pub(super) protocol: u8,
    pub(super) ends: EndpointPair,
    /// The second end asked, as far as is known.
    pub(super) flipped: bool,
    /// A SYN shows who asks.
    pub(super) sure: bool,
    /// The highest number that was sent, of each direction in each capture.
    next: [[Option<u32>; 2]; 2],
}

impl ConversationEntry {
    /// Returns who asked, and whom.
    pub(super) fn sockets(&self) -> (SocketAddr, SocketAddr) {
        let (first, second) = self.ends.sockets();
        if self.flipped { (second, first) } else { (first, second) }
    }
}

/// One of the captures.
#[derive(Debug, Default)]
pub(super) struct CapturePackets {
    /// Its IP packets in order.
    pub(super) seen: Vec<PacketRecord>,
    /// The earliest time of any frame.
    pub(super) first: Option<u64>,
    /// The latest one, as far as packets were remembered.
    pub(super) last: u64,
    /// Packets that were left out.
    pub(super) skipped: u64,
}

/// Both captures.
#[derive(Debug)]
pub(super) struct Captures {
    /// The first.
    pub(super) a: CapturePackets,
    /// The second.
    pub(super) b: CapturePackets,
    /// Pairs of addresses.
    pub(super) address_pairs: Vec<IpPair>,
    pub(super) conversations: Vec<ConversationEntry>,
    /// Packets whose conversation has no place.
    pub(super) pooled: u64,
    address_pair_index: Map<IpPair, u32>,
    conversation_index: Map<(u8, EndpointPair), u32>,
    fingerprinter: Fingerprinter,
    most: usize,
}

impl Captures {
    /// Begins; at most so many bytes behind an IP header are held by both captures.
    pub(super) fn new(bytes: usize, most: usize) -> Self {
        Self {
            a: CapturePackets::default(),
            b: CapturePackets::default(),
            address_pairs: Vec::new(),
            conversations: Vec::new(),
            pooled: 0,
            address_pair_index: Map::default(),
            conversation_index: Map::default(),
            fingerprinter: Fingerprinter::new(Seeded::default(), bytes),
            most,
        }
    }

    /// Takes a frame of one of them.
    pub(super) fn take(&mut self, which: CaptureSide, frame: &Frame<'_>) {
        let (most, fingerprint) = (self.most, self.fingerprinter.fingerprint(frame));
        let capture = self.capture_mut(which);
        let full = capture.seen.len() >= most;
        if full {
            capture.skipped += u64::from(fingerprint.is_some());
            return;
        }
        capture.first = Some(capture.first.map_or(frame.time, |first| first.min(frame.time)));
        capture.last = capture.last.max(frame.time);
        let Some(fingerprint) = fingerprint else {
            return;
        };
        let (Some(address_pair), conversation) =
            (self.address_pair(fingerprint.net), self.conversation(&fingerprint))
        else {
            self.capture_mut(which).skipped += 1;
            return;
        };
        let again = self.note(which, conversation, &fingerprint);
        self.capture_mut(which).seen.push(PacketRecord {
            time: frame.time,
            mark: fingerprint.mark,
            core: fingerprint.core,
            frame: u32::try_from(frame.number).unwrap_or(NONE),
            address_pair,
            conversation,
            seq: fingerprint.seq,
            len: fingerprint.len,
            id: fingerprint.id,
            mss: fingerprint.mss,
            check: fingerprint.check,
            vlan: fingerprint.vlan,
            hops: fingerprint.hops,
            tos: fingerprint.tos,
            flags: fingerprint.flags,
            again,
        });
    }

    /// Returns one of them.
    pub(super) fn capture(&self, which: CaptureSide) -> &CapturePackets {
        which.of(&self.a, &self.b)
    }

    /// Returns the conversation of a packet.
    pub(super) fn conversation_of(&self, seen: &PacketRecord) -> Option<&ConversationEntry> {
        self.conversations.get((seen.conversation / 2) as usize).filter(|_| seen.conversation != NONE)
    }

    /// Returns source and destination of a path.
    pub(super) fn ends_of(&self, address_pair: u32) -> Option<(IpAddr, IpAddr)> {
        self.address_pairs.get(address_pair as usize).map(|net| (net.source(), net.destination()))
    }

    fn capture_mut(&mut self, which: CaptureSide) -> &mut CapturePackets {
        which.of(&mut self.a, &mut self.b)
    }

    fn address_pair(&mut self, net: IpPair) -> Option<u32> {
        if let Some(known) = self.address_pair_index.get(&net) {
            return Some(*known);
        }
        if self.address_pairs.len() >= MAX_ADDRESS_PAIRS {
            return None;
        }
        let new = self.address_pairs.len() as u32;
        self.address_pairs.push(net);
        self.address_pair_index.insert(net, new);
        Some(new)
    }

    fn conversation(&mut self, fingerprint: &Fingerprint) -> u32 {
        let (ends, flipped) = EndpointPair::new(fingerprint.net, fingerprint.ports);
        let key = (fingerprint.protocol, ends);
        let place = match self.conversation_index.get(&key) {
            Some(known) => *known,
            None if self.conversations.len() >= MAX_CONVERSATIONS => {
                self.pooled += 1;
                return NONE;
            }
            None => {
                let new = self.conversations.len() as u32;
                // Until a SYN tells: who has the higher port asks, or who spoke first.
                let asked = match fingerprint.protocol {
                    ICMP => fingerprint.flags == 0,
                    ICMP_SIX => fingerprint.flags == 129,
                    _ => fingerprint.ports.0 < 1024 && fingerprint.ports.0 < fingerprint.ports.1,
                };
                let conversation = ConversationEntry {
                    protocol: fingerprint.protocol,
                    ends,
                    flipped: flipped != asked,
                    sure: false,
                    next: [[None; 2]; 2],
                };
                self.conversations.push(conversation);
                self.conversation_index.insert(key, new);
                new
            }
        };
        place * 2 + u32::from(flipped)
    }

    /// Notes who asks; says whether the data was sent before.
    fn note(&mut self, which: CaptureSide, conversation: u32, fingerprint: &Fingerprint) -> bool {
        let Some(known) =
            self.conversations.get_mut((conversation / 2) as usize).filter(|_| conversation != NONE)
        else {
            return false;
        };
        if fingerprint.protocol != TCP {
            return false;
        }
        let flipped = conversation % 2 == 1;
        if fingerprint.flags & 0x12 == 2 {
            (known.flipped, known.sure) = (flipped, true);
        } else if fingerprint.flags & 0x12 == 0x12 && !known.sure {
            (known.flipped, known.sure) = (!flipped, true);
        }
        let carried =
            fingerprint.len + u32::from(fingerprint.flags & 2 != 0) + u32::from(fingerprint.flags & 1 != 0);
        if carried == 0 {
            return false;
        }
        let [own_a, own_b] = &mut known.next;
        let [first, second] = which.of(own_a, own_b);
        let next = if flipped { second } else { first };
        let end = fingerprint.seq.wrapping_add(carried);
        let fresh = fingerprint.flags & 2 != 0 && next.is_none_or(|next| next != end);
        let ahead = next.is_none_or(|next| (end.wrapping_sub(next) as i32) > 0);
        if fresh || ahead {
            *next = Some(end);
        }
        !fresh && !ahead
    }
}
