//! A path between two places, made for tests: what leaves one side arrives at the other, later, lost, rewritten.

use ghost_pcap::{Comparison, compare};

use crate::pcap::capture::{End, Segment, Timed, pcap, tcp};

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const ACK: u8 = 16;

/// When everything begins, in microseconds.
pub(super) const START: u64 = 1_700_000_000_000_000;

/// Where headers lie behind Ethernet without a tag.
const IP: usize = 14;
const TCP: usize = 34;

/// A packet on its path between the places.
#[derive(Debug, Clone)]
pub(super) struct Packet {
    /// When it passes the first place.
    pub(super) time: u64,
    /// From client to server: it passes A first.
    pub(super) there: bool,
    pub(super) frame: Vec<u8>,
}

/// What happens to a packet between the places: nothing arrives, or it does, so much later.
pub(super) type Fate<'f> = &'f dyn Fn(usize, &Packet) -> Option<(u64, Vec<u8>)>;

/// Gives an `IPv4` packet an identification.
pub(super) fn numbered(mut frame: Vec<u8>, id: u16) -> Vec<u8> {
    frame.get_mut(IP + 4..IP + 6).unwrap().copy_from_slice(&id.to_be_bytes());
    frame
}

/// Takes routers off the time to live.
pub(super) fn routed(mut frame: Vec<u8>, routers: u8) -> Vec<u8> {
    *frame.get_mut(IP + 8).unwrap() -= routers;
    frame
}

/// Rewrites the source, or the destination, to another host and port.
pub(super) fn translated(mut frame: Vec<u8>, source: bool, to: End) -> Vec<u8> {
    let (address, port) = if source { (IP + 15, TCP) } else { (IP + 19, TCP + 2) };
    *frame.get_mut(address).unwrap() = to.host;
    frame.get_mut(port..port + 2).unwrap().copy_from_slice(&to.port.to_be_bytes());
    frame
}

/// A connection: a handshake, so many segments with their acknowledgments, an end. Every millisecond a packet.
pub(super) fn connection(client: End, server: End, segments: u32, start: u64) -> Vec<Packet> {
    let mut packets = Vec::new();
    let mut send = |there: bool, seq: u32, ack: u32, flags: u8, len: usize, options: &[u8]| {
        let number = packets.len() as u64;
        let segment = Segment { seq, ack, flags, win: 502, len, options: options.to_vec() };
        let (from, to) = if there { (client, server) } else { (server, client) };
        let id = 1000 + u16::try_from(number).unwrap() + client.port;
        let frame = numbered(tcp(false, from, to, &segment), id);
        packets.push(Packet { time: start + number * 1000, there, frame });
    };
    let mss = [2, 4, 5, 0xb4];
    let isn = u32::from(client.port) * 7919;
    send(true, isn, 0, SYN, 0, &mss);
    send(false, 5_000, isn + 1, SYN | ACK, 0, &mss);
    send(true, isn + 1, 5_001, ACK, 0, &[]);
    for number in 0..segments {
        let seq = isn + 1 + number * 100;
        send(true, seq, 5_001, ACK, 100, &[]);
        send(false, 5_001, seq + 100, ACK, 0, &[]);
    }
    let last = isn + 1 + segments * 100;
    send(true, last, 5_001, ACK | FIN, 0, &[]);
    send(false, 5_001, last + 1, ACK | FIN, 0, &[]);
    send(true, last + 1, 5_002, ACK, 0, &[]);
    packets
}

/// SYNs that are sent again and again, a second apart.
pub(super) fn syns(client: End, server: End, count: u32, start: u64) -> Vec<Packet> {
    let syn = Segment { seq: 77, flags: SYN, win: 502, ..Segment::default() };
    (0..count)
        .map(|number| {
            let frame = numbered(tcp(false, client, server, &syn), 500 + u16::try_from(number).unwrap());
            Packet { time: start + u64::from(number) * 1_000_000, there: true, frame }
        })
        .collect()
}

/// Returns what both places capture: A by its clock, B by one that says so much more, in microseconds.
pub(super) fn places(packets: &[Packet], ahead: i64, fate: Fate<'_>) -> (Vec<Timed>, Vec<Timed>) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (number, packet) in packets.iter().enumerate() {
        let (first, second) = if packet.there { (&mut a, &mut b) } else { (&mut b, &mut a) };
        first.push((packet.time, packet.frame.clone()));
        if let Some((later, frame)) = fate(number, packet) {
            second.push((packet.time + later, frame));
        }
    }
    for (time, _) in &mut b {
        *time = time.checked_add_signed(ahead).unwrap();
    }
    a.sort_by_key(|(time, _)| *time);
    b.sort_by_key(|(time, _)| *time);
    (a, b)
}

/// Everything arrives five milliseconds later, through two routers.
pub(super) fn arrives(_: usize, packet: &Packet) -> Option<(u64, Vec<u8>)> {
    Some((5_000, routed(packet.frame.clone(), 2)))
}

/// Compares two captures.
pub(super) fn compared(a: &[Timed], b: &[Timed]) -> Comparison {
    let files = [pcap(a, 65_535), pcap(b, 65_535)];
    compare(|which| Ok(std::io::Cursor::new(files.get(which).unwrap().clone())), false).unwrap()
}

/// Compares what two places capture of the same packets.
pub(super) fn between(packets: &[Packet], ahead: i64, fate: Fate<'_>) -> Comparison {
    let (a, b) = places(packets, ahead, fate);
    compared(&a, &b)
}
