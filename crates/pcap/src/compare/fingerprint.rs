//! Packet fingerprints: one of all fields that routers keep, one of all fields that NAT keeps, too.

use std::hash::{BuildHasher as _, Hasher as _};

use crate::hash::Seeded;
use crate::label::Label;
use crate::layers::{Arp, HeaderContext, IpPair, Quote, Sink, View, Walker};
use crate::read::Frame;

/// The numbers of protocols that are looked into.
pub(super) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMP_SIX: u8 = 58;

/// The fields of an IP packet that identify it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Fingerprint {
    /// Equal for the same packet at both places.
    pub(super) mark: u64,
    /// Equal even where addresses, ports, identification or options were rewritten on the path.
    pub(super) core: u64,
    /// From whom, to whom.
    pub(super) net: IpPair,
    /// What it carries.
    pub(super) protocol: u8,
    /// Ports; of an echo its number twice.
    pub(super) ports: (u16, u16),
    /// Of TCP and of echoes, its number.
    pub(super) seq: u32,
    /// How much it carries behind its transport header.
    pub(super) len: u32,
    /// The identification, 0 where there is none.
    pub(super) id: u16,
    /// The largest segment that a SYN offers, 0 where it offers none.
    pub(super) mss: u16,
    /// The checksum of the transport.
    pub(super) check: u16,
    /// The innermost VLAN outside of it.
    pub(super) vlan: u16,
    /// Time to live, or hop limit.
    pub(super) hops: u8,
    /// Type of service, or traffic class.
    pub(super) tos: u8,
    /// The flags of TCP; of ICMP its type.
    pub(super) flags: u8,
    /// It is a fragment, or may not be made some.
    pub(super) fragmentation: Fragmentation,
}

/// What the header says of fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Fragmentation {
    /// Whole, and may be cut.
    #[default]
    Whole,
    /// Whole, and may not be cut.
    Never,
    /// A fragment.
    Part,
}

/// Makes fingerprints of frames.
#[derive(Debug)]
pub(super) struct Fingerprinter {
    walker: Walker,
    marker: FingerprintSink,
}

#[derive(Debug)]
struct FingerprintSink {
    seeded: Seeded,
    most: usize,
    found: Option<Fingerprint>,
}

impl Fingerprinter {
    /// Makes a printer that reads this many bytes behind the IP header.
    pub(super) fn new(seeded: Seeded, most: usize) -> Self {
        Self { walker: Walker::default(), marker: FingerprintSink { seeded, most, found: None } }
    }

    /// Returns the fingerprint of a frame's outermost IP packet.
    pub(super) fn fingerprint(&mut self, frame: &Frame<'_>) -> Option<Fingerprint> {
        self.marker.found = None;
        self.walker.walk(frame, &mut self.marker);
        self.marker.found
    }
}

impl FingerprintSink {
    fn look(&self, packet: View<'_>, context: &HeaderContext) -> Option<Fingerprint> {
        let mut fingerprint = Fingerprint {
            net: context.net,
            hops: context.hops,
            vlan: context.vlan,
            ..Fingerprint::default()
        };
        let mut marked = self.seeded.build_hasher();
        let rest = match context.net {
            IpPair::Four(from, to) => {
                marked.write_u32(u32::from_be_bytes(from));
                marked.write_u32(u32::from_be_bytes(to));
                let second = packet.u32(4)?;
                // Identification, flags and offset.
                marked.write_u32(second);
                fingerprint.id = (second >> 16) as u16;
                fingerprint.fragmentation = match second & 0xffff {
                    low if low & 0x3fff != 0 => Fragmentation::Part,
                    low if low & 0x4000 != 0 => Fragmentation::Never,
                    _ => Fragmentation::Whole,
                };
                fingerprint.tos = packet.u8(1)?;
                fingerprint.protocol = packet.u8(9)?;
                packet.skip(usize::from(packet.u8(0)? & 15) * 4)
            }
            IpPair::Six(from, to) => {
                marked.write_u128(u128::from_be_bytes(from));
                marked.write_u128(u128::from_be_bytes(to));
                fingerprint.tos = (packet.u16(0)? >> 4) as u8;
                fingerprint.protocol = packet.u8(6)?;
                packet.skip(40)
            }
        };
        marked.write_u64(rest.wire as u64);
        marked.write_u8(fingerprint.protocol);
        let bytes = rest.data.get(..self.most).unwrap_or(rest.data);
        // What one of both captures does not hold is not looked at in the other one.
        let known = transport(&mut fingerprint, View { data: bytes, wire: rest.wire }).unwrap_or_default();
        let payload = {
            let mut hasher = self.seeded.build_hasher();
            hasher.write(bytes.get(known.header..).unwrap_or_default());
            hasher.finish()
        };
        // Cards compute checksums late: at the sender they are not there yet.
        let header = bytes.get(..known.header).unwrap_or(bytes);
        marked.write(header.get(..known.check).unwrap_or(header));
        marked.write(header.get(known.check + 2..).unwrap_or_default());
        marked.write_u64(payload);
        fingerprint.mark = marked.finish();
        let mut core = self.seeded.build_hasher();
        core.write_u64(known.own);
        core.write_u64(payload);
        core.write_u32((u32::from(fingerprint.protocol) << 8) | u32::from(fingerprint.flags));
        core.write_u32(fingerprint.len);
        fingerprint.core = core.finish();
        Some(fingerprint)
    }
}

/// Reads the transport's header.
fn transport(fingerprint: &mut Fingerprint, rest: View<'_>) -> Option<TransportFields> {
    let first_fragment = fingerprint.fragmentation != Fragmentation::Part;
    fingerprint.len = rest.wire as u32;
    if !first_fragment {
        return None;
    }
    match fingerprint.protocol {
        TCP => {
            fingerprint.ports = (rest.u16(0)?, rest.u16(2)?);
            fingerprint.seq = rest.u32(4)?;
            let ack = rest.u32(8)?;
            let header = usize::from(rest.u8(12)? >> 4) * 4;
            fingerprint.flags = rest.u8(13)?;
            fingerprint.check = rest.u16(16).unwrap_or(0);
            fingerprint.len = rest.wire.saturating_sub(header) as u32;
            if fingerprint.flags & 2 != 0 {
                fingerprint.mss = mss(rest, header);
            }
            let own = (u64::from(fingerprint.seq) << 32) | u64::from(ack);
            Some(TransportFields { header: header.max(20), check: 16, own })
        }
        UDP => {
            fingerprint.ports = (rest.u16(0)?, rest.u16(2)?);
            fingerprint.check = rest.u16(6).unwrap_or(0);
            fingerprint.len = rest.wire.saturating_sub(8) as u32;
            Some(TransportFields { header: 8, check: 6, own: u64::from(fingerprint.id) })
        }
        ICMP | ICMP_SIX => {
            fingerprint.flags = rest.u8(0)?;
            fingerprint.check = rest.u16(2).unwrap_or(0);
            fingerprint.len = rest.wire.saturating_sub(8) as u32;
            let number = rest.u16(6).unwrap_or(0);
            if matches!((fingerprint.protocol, fingerprint.flags), (ICMP, 0 | 8) | (ICMP_SIX, 128 | 129)) {
                let id = rest.u16(4).unwrap_or(0);
                fingerprint.ports = (id, id);
            }
            // Their checksum was always part of the fingerprint.
            let own = (u64::from(rest.u8(1)?) << 16) | u64::from(number);
            Some(TransportFields { header: 8, check: 8, own })
        }
        _ => None,
    }
}

/// How a transport's header is taken into the fingerprint.
#[derive(Debug, Clone, Copy, Default)]
struct TransportFields {
    /// How long it is.
    header: usize,
    /// Where its checksum stands; what is behind the header where it counts like the rest.
    check: usize,
    /// What nobody rewrites.
    own: u64,
}

/// Searches for the option in which a SYN offers the largest segment.
fn mss(rest: View<'_>, header: usize) -> u16 {
    let mut at = 20;
    while at < header {
        match rest.u8(at) {
            Some(1) => at += 1,
            Some(2) => return rest.u16(at + 2).unwrap_or(0),
            Some(0) | None => return 0,
            Some(_) => match rest.u8(at + 1) {
                Some(length @ 2..) => at += usize::from(length),
                _ => return 0,
            },
        }
    }
    0
}

impl Sink for FingerprintSink {
    fn packet(&mut self, packet: View<'_>, context: &HeaderContext) {
        if self.found.is_none() && !context.quoted {
            self.found = self.look(packet, context);
        }
    }

    fn mark(&mut self, _label: Label) {}
    fn tcp(&mut self, _view: View<'_>, _place: &HeaderContext) {}
    fn udp(&mut self, _ports: (u16, u16), _payload: View<'_>, _place: &HeaderContext) {}
    fn dns(&mut self, _ports: (u16, u16), _message: View<'_>, _place: &HeaderContext) {}
    fn icmp(&mut self, _six: bool, _view: View<'_>, _place: &HeaderContext) {}
    fn about(&mut self, _quote: &Quote, _net: IpPair, _ports: Option<(u16, u16)>) {}
    fn arp(&mut self, _arp: &Arp) {}
    fn unknown_link(&mut self, _link: u16) {}
}
