//! A packet costs no allocation; and packets to prove it with.

use ghost_pcap::{Analyzer, Frame, Reader, Scope};

use crate::HEAP;

/// The second time that the same connections and hosts talk, fewer bytes are allocated than packets are read.
pub(crate) fn nothing_is_allocated_for_a_packet() {
    for (name, capture) in [("tcp", talk(false)), ("tcp in vxlan", talk(true)), ("udp, arp, dns", chat())] {
        let mut analyzer = Analyzer::new(Scope::default());
        let mut taken = 0_u64;
        let mut pass = || {
            let mut reader = Reader::new();
            let mut before = 0;
            for (number, piece) in capture.chunks(32 * 1024).enumerate() {
                // By then the reader's window has its size.
                if number == 10 {
                    before = HEAP.total_allocated();
                }
                reader.room()[..piece.len()].copy_from_slice(piece);
                reader.filled(piece.len());
                while let Some(frame) = reader.frame().unwrap() {
                    taken += 1;
                    analyzer.feed(&Frame { number: taken, time: taken * 1000, ..frame });
                }
            }
            HEAP.total_allocated() - before
        };
        pass();
        pass();
        let bytes = pass();
        let packets = taken / 3;
        println!("pcap_bounds: {name}: {bytes} bytes allocated for {packets} packets");
        assert!((bytes as u64) < packets / 100, "{name}: {bytes} bytes for {packets} packets");
    }
}

fn capture(packets: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for data in packets {
        let size = u32::try_from(data.len()).unwrap();
        file.extend([1, 0, size, size].map(u32::to_le_bytes).concat());
        file.extend(data);
    }
    file
}

pub(crate) fn ip(protocol: u8, reply: bool, body: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(20 + body.len()).unwrap().to_be_bytes();
    let (from, to) = if reply { (2, 1) } else { (1, 2) };
    let mut packet = [&[2; 12][..], &[8, 0, 0x45, 0, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0]].concat();
    packet.extend([10, 0, 0, from, 10, 0, 0, to]);
    packet.extend(body);
    packet
}

fn udp(ports: (u16, u16), reply: bool, payload: &[u8]) -> Vec<u8> {
    let (from, to) = if reply { (ports.1, ports.0) } else { ports };
    let size = u16::try_from(8 + payload.len()).unwrap();
    let header = [from.to_be_bytes(), to.to_be_bytes(), size.to_be_bytes(), [0, 0]].concat();
    ip(17, reply, &[&header[..], payload].concat())
}

/// A thousand connections, data and acknowledgments in turn.
fn talk(tunnel: bool) -> Vec<u8> {
    capture((0..100_000_u32).map(|number| {
        let (port, turn) = (u16::try_from(10_000 + number % 1000).unwrap(), number / 1000);
        let reply = turn % 2 == 1;
        let sent = 1 + turn.div_ceil(2) * 8;
        let (from, to) = if reply { (443_u16, port) } else { (port, 443) };
        let (seq, ack) = if reply { (1, sent) } else { (sent, 1) };
        let mut segment = [from.to_be_bytes(), to.to_be_bytes()].concat();
        segment.extend([seq.to_be_bytes(), ack.to_be_bytes(), [0x50, 0x10, 2, 0], [0; 4]].concat());
        segment.extend(if reply { &[][..] } else { &[7; 8] });
        let plain = ip(6, reply, &segment);
        if tunnel {
            udp((50_000, 4789), reply, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &plain].concat())
        } else {
            plain
        }
    }))
}

/// Datagrams, questions with their answers, requests with their replies.
fn chat() -> Vec<u8> {
    let name = b"\x03www\x07example\x04test\x00\x00\x01\x00\x01";
    capture((0..100_000_u32).map(|number| {
        let [.., id] = (number / 10).to_be_bytes();
        let reply = number % 2 == 1;
        match number % 10 {
            0..4 => udp((40_000 + number as u16 % 100, 9), reply, &[0; 30]),
            4..8 => {
                let flags = if reply { 0x81 } else { 1 };
                udp((40_000, 53), reply, &[&[0, id, flags, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], name].concat())
            }
            _ => {
                let (from, to) = if reply { (2, 1) } else { (1, 2) };
                let head = [&[2; 12][..], &[8, 6, 0, 1, 8, 0, 6, 4, 0, if reply { 2 } else { 1 }]].concat();
                [&head[..], &[2, 0, 0, 0, 0, from, 10, 0, 0, from, 2, 0, 0, 0, 0, to, 10, 0, 0, to]].concat()
            }
        }
    }))
}
