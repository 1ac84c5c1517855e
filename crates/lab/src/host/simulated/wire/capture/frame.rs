//! Packets of a play as bytes.

use std::net::IpAddr;

use super::header::{Ip, ethernet, packet, packets, put, seal};
use super::payload::Stream;
use crate::host::simulated::wire::chance::Chance;
use crate::host::simulated::wire::conversation::{CapturedPacket, PacketKind, Segment};
use crate::host::simulated::wire::journal::{Conversation, Exchange};

/// The window that both ends announce, in units of 128 bytes.
const WINDOW: u16 = 24_576;
/// The most bytes of a packet that an ICMP error repeats.
const MAX_QUOTED_BYTES: usize = 528;

/// A conversation, ready to be written.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    said: &'a Conversation,
    seen: &'a [CapturedPacket],
    asked: Stream,
    answered: Stream,
    /// The first numbers of both sides.
    begins: (u32, u32),
    id: u16,
    /// Whose capture it is: of the one who began, or of the other.
    near: bool,
    /// The hardware addresses: the machine's own, and the one it sees.
    macs: ([u8; 6], [u8; 6]),
}

impl<'a> Writer<'a> {
    /// Prepares a conversation.
    pub(super) fn new(
        said: &'a Conversation,
        seen: &'a [CapturedPacket],
        near: bool,
        macs: ([u8; 6], [u8; 6]),
    ) -> Self {
        let mut chance = Chance::new(said.seed ^ 0x5eed);
        let port = said.line.far.port;
        let turns = match &said.act {
            Exchange::Tcp(script) => script.turns.as_slice(),
            Exchange::Datagram { .. } | Exchange::Echo(_) => &[],
        };
        let number = |chance: &mut Chance| u32::try_from(chance.below(1 << 32)).unwrap_or(1);
        let begins = (number(&mut chance), number(&mut chance));
        let id = u16::try_from(chance.below(1 << 16)).unwrap_or(1);
        let asked = Stream::new(port, true, turns);
        let answered = Stream::new(port, false, turns);
        Self { said, seen, asked, answered, begins, id, near, macs }
    }

    /// Writes a packet; more than one, where it has to be cut.
    pub(super) fn frames(&self, at: usize) -> Vec<Vec<u8>> {
        let Some(seen) = self.seen.get(at) else { return Vec::new() };
        let (own, other) = self.macs;
        let (src, dst) = if seen.near_sent == self.near { (own, other) } else { (other, own) };
        let kind = if self.said.line.near.address.is_ipv4() { 0x0800 } else { 0x86dd };
        self.packets(at, seen).into_iter().map(|packet| ethernet(src, dst, kind, &packet)).collect()
    }

    fn packets(&self, at: usize, seen: &CapturedPacket) -> Vec<Vec<u8>> {
        let line = &self.said.line;
        let (near, far) = (line.near.address, line.far.address);
        let (src, dst) = if seen.near_sent { (near, far) } else { (far, near) };
        let id = self.id.wrapping_add(u16::try_from(at & 0xffff).unwrap_or(0));
        let six = src.is_ipv6();
        let protocol = match &seen.what {
            PacketKind::Tcp(_) => 6,
            PacketKind::Udp(_) => 17,
            PacketKind::Echo { .. } | PacketKind::Error { .. } => {
                if six {
                    58
                } else {
                    1
                }
            }
        };
        let ip = Ip { src, dst, protocol, id, life: 64 };
        let mtu = if seen.near_sent { line.near.mtu } else { line.far.mtu };
        match &seen.what {
            PacketKind::Tcp(segment) => vec![packet(ip, &self.segment(ip, seen, segment), true)],
            PacketKind::Udp(bytes) => packets(ip, &self.datagram(ip, seen, bytes), mtu),
            PacketKind::Echo { answers, id: whose, number, size } => {
                let kind = match (answers, six) {
                    (false, false) => 8,
                    (true, false) => 0,
                    (false, true) => 128,
                    (true, true) => 129,
                };
                let mut inner = vec![kind, 0, 0, 0];
                inner.extend(whose.to_be_bytes());
                inner.extend(number.to_be_bytes());
                inner.extend((0..*size).map(|at| u8::try_from(at & 0xff).unwrap_or(0)));
                seal(ip, &mut inner, 2, six);
                damage(seen, &mut inner);
                packets(ip, &inner, mtu)
            }
            PacketKind::Error { code, mtu, about } => {
                self.error(ip, *code, *mtu, *about).into_iter().collect()
            }
        }
    }

    fn segment(&self, ip: Ip, seen: &CapturedPacket, segment: &Segment) -> Vec<u8> {
        let line = &self.said.line;
        let (from, to) = (line.near.port, line.far.port);
        let (mine, yours) = self.begins;
        let ((from, to), (mine, yours)) =
            if seen.near_sent { ((from, to), (mine, yours)) } else { ((to, from), (yours, mine)) };
        let low = |number: u64| u32::try_from(number & 0xffff_ffff).unwrap_or(0);
        let options = options(segment, yours);
        let mut bytes = Vec::with_capacity(60);
        bytes.extend(from.to_be_bytes());
        bytes.extend(to.to_be_bytes());
        bytes.extend(mine.wrapping_add(low(segment.seq)).to_be_bytes());
        let acks = segment.flags & 16 != 0;
        let ack = if acks { yours.wrapping_add(low(segment.ack)) } else { 0 };
        bytes.extend(ack.to_be_bytes());
        let words = u8::try_from((20 + options.len()) / 4).unwrap_or(5);
        bytes.extend([words << 4, segment.flags]);
        let window = if segment.flags & 4 != 0 {
            0
        } else if segment.flags & 2 != 0 {
            64_240
        } else {
            WINDOW
        };
        bytes.extend(window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        let stream = if seen.near_sent { &self.asked } else { &self.answered };
        bytes.extend(stream.bytes(segment.seq.saturating_sub(1), segment.len));
        seal(ip, &mut bytes, 16, true);
        damage(seen, &mut bytes);
        bytes
    }

    fn datagram(&self, ip: Ip, seen: &CapturedPacket, said: &[u8]) -> Vec<u8> {
        let line = &self.said.line;
        let (from, to) =
            if seen.near_sent { (line.near.port, line.far.port) } else { (line.far.port, line.near.port) };
        let length = u16::try_from(8 + said.len()).unwrap_or(u16::MAX);
        let mut bytes: Vec<u8> = [from, to, length, 0].iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend(said);
        seal(ip, &mut bytes, 6, true);
        damage(seen, &mut bytes);
        bytes
    }

    fn error(&self, mut ip: Ip, code: u8, mtu: u16, about: usize) -> Option<Vec<u8>> {
        let quoted = self.seen.get(about).filter(|seen| !matches!(seen.what, PacketKind::Error { .. }))?;
        let whole = self.packets(about, quoted).into_iter().next()?;
        let narrow = code == 4;
        if narrow {
            ip.src = router(ip.dst);
        }
        let six = ip.src.is_ipv6();
        let (kind, code) = match (six, narrow) {
            (false, _) => (3, code),
            (true, true) => (2, 0),
            (true, false) => (1, 4),
        };
        let mut inner = vec![kind, code, 0, 0, 0, 0, 0, 0];
        put(&mut inner, 6, if narrow { mtu } else { 0 });
        // Routers repeat the least that they have to.
        inner.extend(whole.iter().take(if narrow && !six { 28 } else { MAX_QUOTED_BYTES }));
        seal(ip, &mut inner, 2, six);
        Some(packet(Ip { life: if narrow { 255 } else { 64 }, ..ip }, &inner, false))
    }
}

/// The router of a network is its first address.
fn router(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            IpAddr::from([a, b, c, 1])
        }
        IpAddr::V6(address) => {
            let bits = address.to_bits() >> 64 << 64;
            IpAddr::V6(std::net::Ipv6Addr::from_bits(bits | 1))
        }
    }
}

/// Damages what a device damaged: one bit, where checksums notice it.
fn damage(seen: &CapturedPacket, bytes: &mut [u8]) {
    if seen.broken
        && let Some(last) = bytes.last_mut()
    {
        *last ^= 0x10;
    }
}

fn options(segment: &Segment, yours: u32) -> Vec<u8> {
    let low = |number: u64| u32::try_from(number & 0xffff_ffff).unwrap_or(0);
    let mut bytes = Vec::new();
    if segment.flags & 4 != 0 {
        return bytes;
    }
    if segment.flags & 2 != 0 {
        bytes.extend([2, 4]);
        bytes.extend(segment.most.to_be_bytes());
        bytes.extend([4, 2]);
    } else {
        bytes.extend([1, 1]);
    }
    bytes.extend([8, 10]);
    bytes.extend(low(segment.clocks.0).to_be_bytes());
    bytes.extend(low(segment.clocks.1).to_be_bytes());
    if segment.flags & 2 != 0 {
        bytes.extend([1, 3, 3, 7]);
    } else if !segment.sacked.is_empty() {
        let count = u8::try_from(segment.sacked.len()).unwrap_or(0);
        bytes.extend([1, 1, 5, 2 + 8 * count]);
        for (begin, end) in &segment.sacked {
            bytes.extend(yours.wrapping_add(low(*begin)).to_be_bytes());
            bytes.extend(yours.wrapping_add(low(*end)).to_be_bytes());
        }
    }
    bytes
}
