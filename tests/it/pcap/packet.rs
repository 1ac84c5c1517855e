//! Packets of names, complaints and links, made for tests.

use super::capture::Timed;

pub(super) type Four = [u8; 4];
pub(super) type Mac = [u8; 6];

pub(super) const CLIENT: Four = [10, 0, 0, 1];
pub(super) const RESOLVER: Four = [10, 0, 0, 53];
pub(super) const SERVER: Four = [10, 0, 9, 9];
pub(super) const ROUTER: Four = [10, 0, 0, 254];
pub(super) const ALL: Mac = [0xff; 6];
pub(super) const SECOND: u64 = 1_000_000;

/// Returns a hardware address of a host.
pub(super) fn mac(host: u8) -> Mac {
    [2, 0, 0, 0, 0, host]
}

/// Returns an address of the newer version.
pub(super) fn six(host: u8) -> [u8; 16] {
    [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]
}

/// Returns an Ethernet frame.
pub(super) fn ether(from: Mac, to: Mac, kind: u16, body: &[u8]) -> Vec<u8> {
    [&to[..], &from, &kind.to_be_bytes(), body].concat()
}

/// Returns an `IPv4` packet in a frame; `mark` is its identification, `chunks` flags and fragment offset.
pub(super) fn ip(
    (from, to): (Four, Four),
    protocol: u8,
    hops: u8,
    (mark, chunks): (u16, u16),
    body: &[u8],
) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend(u16::try_from(20 + body.len()).unwrap().to_be_bytes());
    packet.extend(mark.to_be_bytes());
    packet.extend(chunks.to_be_bytes());
    packet.extend([hops, protocol, 0, 0]);
    packet.extend(from);
    packet.extend(to);
    packet.extend(body);
    ether(mac(from[3]), mac(to[3]), 0x0800, &packet)
}

/// Returns an `IPv6` packet in a frame.
pub(super) fn ip6((from, to): ([u8; 16], [u8; 16]), next: u8, hops: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(u16::try_from(body.len()).unwrap().to_be_bytes());
    packet.extend([next, hops]);
    packet.extend(from);
    packet.extend(to);
    packet.extend(body);
    ether(mac(from[15]), mac(to[15]), 0x86dd, &packet)
}

/// Returns the header of a datagram with what it carries.
pub(super) fn datagram(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + payload.len()).unwrap();
    [&from.to_be_bytes()[..], &to.to_be_bytes(), &size.to_be_bytes(), &[0, 0], payload].concat()
}

/// Returns a name in wire form.
pub(super) fn name(text: &str) -> Vec<u8> {
    let mut name = Vec::new();
    for label in text.split('.').filter(|label| !label.is_empty()) {
        name.push(u8::try_from(label.len()).unwrap());
        name.extend(label.bytes());
    }
    name.push(0);
    name
}

/// What is asked, and what comes back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) client: Four,
    pub(super) name: &'a str,
    pub(super) kind: u16,
    /// The flags of the answer with its code, or nothing for none.
    pub(super) answer: Option<u16>,
    /// How long it takes, in microseconds.
    pub(super) took: u64,
    /// Bytes behind the answer's question.
    pub(super) size: usize,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self { client: CLIENT, name: "host.example.com", kind: 1, answer: Some(0x8180), took: 9000, size: 0 }
    }
}

/// Adds a question and its answer.
pub(super) fn ask(frames: &mut Vec<Timed>, time: u64, what: Ask<'_>) {
    let number = u16::try_from(frames.len()).unwrap();
    let message = |flags: u16, size: usize| {
        let mut message = [number, flags, 1, 0, 0, 0].map(u16::to_be_bytes).concat();
        message.extend(name(what.name));
        message.extend([what.kind, 1].map(u16::to_be_bytes).concat());
        message.extend(std::iter::repeat_n(0, size));
        message
    };
    let port = 20_000 + number;
    let question = datagram(port, 53, &message(0x0100, 0));
    frames.push((time, ip((what.client, RESOLVER), 17, 64, (number, 0), &question)));
    if let Some(flags) = what.answer {
        let answer = datagram(53, port, &message(flags, what.size));
        frames.push((time + what.took, ip((RESOLVER, what.client), 17, 60, (number, 0), &answer)));
    }
}

/// Returns a ping or its answer.
pub(super) fn ping(ends: (Four, Four), kind: u8, seq: u16, hops: u8) -> Vec<u8> {
    let [high, low] = seq.to_be_bytes();
    ip(ends, 1, hops, (seq, 0), &[kind, 0, 0, 0, 0, 7, high, low, 1, 2, 3, 4])
}

/// Returns a SYN without anything.
pub(super) fn syn(ends: (Four, Four), port: u16, hops: u8) -> Vec<u8> {
    let mut segment = [40_000_u16, port].map(u16::to_be_bytes).concat();
    segment.extend([0, 0, 0, 9, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0]);
    ip(ends, 6, hops, (77, 0), &segment)
}

/// Returns an error about a packet in a frame; `rest` are the four bytes behind its checksum.
pub(super) fn error(from: Four, (kind, code): (u8, u8), rest: [u8; 4], about: &[u8]) -> Vec<u8> {
    let quoted = about.get(14..).unwrap();
    let source: Four = quoted.get(12..16).unwrap().try_into().unwrap();
    let quoted = quoted.get(..quoted.len().min(48)).unwrap();
    let mut body = vec![kind, code, 0, 0];
    body.extend(rest);
    body.extend(quoted);
    ip((from, source), 1, 64, (5, 0), &body)
}

/// Returns an error of the newer version.
pub(super) fn error6(from: [u8; 16], (kind, code): (u8, u8), rest: u32, about: &[u8]) -> Vec<u8> {
    let quoted = about.get(14..).unwrap();
    let source: [u8; 16] = quoted.get(8..24).unwrap().try_into().unwrap();
    let mut body = vec![kind, code, 0, 0];
    body.extend(rest.to_be_bytes());
    body.extend(quoted.get(..quoted.len().min(60)).unwrap());
    ip6((from, source), 58, 64, &body)
}

/// Returns an ARP packet.
pub(super) fn arp(operation: u8, from: Mac, (sender, target): (Four, Four)) -> Vec<u8> {
    let mut body = vec![0, 1, 8, 0, 6, 4, 0, operation];
    body.extend(from);
    body.extend(sender);
    body.extend([0; 6]);
    body.extend(target);
    ether(from, if operation == 1 { ALL } else { mac(target[3]) }, 0x0806, &body)
}

/// Returns a solicitation (135) or an advertisement (136) for an address.
pub(super) fn neighbor(
    kind: u8,
    flags: u8,
    mac: Mac,
    source: [u8; 16],
    (to, target): ([u8; 16], [u8; 16]),
) -> Vec<u8> {
    let mut body = vec![kind, 0, 0, 0, flags, 0, 0, 0];
    body.extend(target);
    body.extend([if kind == 135 { 1 } else { 2 }, 1]);
    body.extend(mac);
    ip6((source, to), 58, 255, &body)
}
