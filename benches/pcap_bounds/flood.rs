//! Floods: everything that can be told apart comes in as many kinds as there are packets.

use ghost_pcap::{Analyzer, Format, Frame, ReadSummary, Scope, markdown};

use crate::packet::ip;
use crate::{HEAP, MEGABYTE};

/// What may be remembered of a flood of one kind: 131,072 connections that all carry data take most, 1.6 kB each.
const MOST_REMEMBERED: usize = 256 * MEGABYTE;

/// Everything that can be told apart comes in as many kinds as there are packets.
pub(crate) fn floods_are_remembered_within_a_bound(count: u32) {
    type Make = fn(u32) -> Vec<u8>;
    let floods: [(&str, Make); 12] = [
        ("connections", |number| from(6, number, &segment(number, 80, 2, b""))),
        ("connections with data", |number| from(6, number, &segment(number, 80, 0x10, &[7; 100]))),
        ("gaps in one connection", |number| {
            ip(6, false, &segment(number.wrapping_mul(5000), 80, 0x10, &[7; 9]))
        }),
        ("names over TCP", |number| from(6, number, &segment(number, 53, 0x10, &[0xff; 9]))),
        ("first fragments", |number| piece(number, 0x2000, &[7; 64])),
        ("fragments of nothing", |number| piece(number, 0x2001, &[])),
        ("fragments beyond the end", |number| piece(number, 0x1fff, &[7; 8])),
        ("hosts", |number| {
            let [high, .., low] = number.to_be_bytes();
            let mut frame = [&[2; 12][..], &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, high, low]].concat();
            frame.extend([&number.to_be_bytes()[..], &[0; 6], &number.rotate_left(7).to_be_bytes()].concat());
            frame
        }),
        ("complaints", |number| {
            let [.., kind, code] = number.to_be_bytes();
            let quoted = from(17, number.rotate_left(9), &[0, 9, 0, 9, 0, 8, 0, 0])[14..].to_vec();
            from(
                1,
                number,
                &[&[if number % 2 == 0 { 3 } else { kind }, code, 0, 0, 0, 0, 0, 0][..], &quoted].concat(),
            )
        }),
        ("questions", |number| from(17, number, &question(number, 1, 0))),
        ("names that do not exist", |number| from(17, number, &question(number, 0x81, 3))),
        ("datagrams", |number| {
            let [a, b, c, d] = number.to_be_bytes();
            from(17, number, &[a, b, c, d, 0, 12, 0, 0, 1, 2, 3, 4])
        }),
    ];
    for (name, make) in floods {
        let before = HEAP.allocated();
        let mut analyzer = Analyzer::new(Scope::default());
        for number in 0..count {
            let data = make(number);
            let time = 1_700_000_000_000_000_000 + u64::from(number) * 10_000;
            let wire = data.len();
            let frame =
                Frame { number: u64::from(number) + 1, time, interface: number, link: 1, wire, data: &data };
            analyzer.feed(&frame);
        }
        let bytes = HEAP.allocated() - before;
        println!("pcap_bounds: {name}: {:.1} MB are remembered of {count}", bytes as f64 / MEGABYTE as f64);
        assert!(bytes < MOST_REMEMBERED, "{name}");
        assert!(!markdown(&analyzer.finish(&ReadSummary::new(Format::Pcap)), name).is_empty());
    }
}

/// A packet from a host of its own.
fn from(protocol: u8, host: u32, body: &[u8]) -> Vec<u8> {
    let mut frame = ip(protocol, false, body);
    let [a, b, c, d] = host.to_be_bytes();
    frame[26..30].copy_from_slice(&[10 ^ a, b, c, d]);
    frame
}

fn segment(seq: u32, port: u16, flags: u8, payload: &[u8]) -> Vec<u8> {
    let head = [40_000_u16.to_be_bytes(), port.to_be_bytes()].concat();
    [&head[..], &seq.to_be_bytes(), &[0, 0, 0, 1, 0x50, flags, 1, 0, 0, 0, 0, 0], payload].concat()
}

/// A fragment of a packet of its own.
fn piece(number: u32, place: u16, body: &[u8]) -> Vec<u8> {
    let mut frame = from(17, number >> 16, body);
    frame[18..20].copy_from_slice(&(number as u16).to_be_bytes());
    frame[20..22].copy_from_slice(&place.to_be_bytes());
    frame
}

/// A question for a name of its own, or the answer.
fn question(number: u32, flags: u8, rcode: u8) -> Vec<u8> {
    let name = format!("{number:012}");
    let message = [&[0, 0, flags, 0x80 | rcode, 0, 1, 0, 0, 0, 0, 0, 0, 12][..], name.as_bytes()].concat();
    let ports: [u8; 4] = if flags > 0x80 { [0, 53, 0x9c, 0x40] } else { [0x9c, 0x40, 0, 53] };
    let size = u16::try_from(8 + message.len() + 16).unwrap().to_be_bytes();
    [&ports[..], &size, &[0, 0], &message, b"\x04test\x00\x00\x01\x00\x01\x00\x00\x00\x00\x00"].concat()
}
