//! How many packets a second are read and analyzed: each layer of work on top of the one before, then by what is in them.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use ghost_pcap::{Analyzer, Scope, frames};

const PACKETS: u32 = 100_000;

/// Writes a capture of packets that `frame` makes.
fn capture(frame: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for number in 0..PACKETS {
        let data = frame(number);
        let size = u32::try_from(data.len()).unwrap();
        file.extend([number / 1000, number % 1000 * 1000, size, size].map(u32::to_le_bytes).concat());
        file.extend(data);
    }
    file
}

fn ether(kind: u16, body: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind.to_be_bytes(), body].concat()
}

fn ip(protocol: u8, host: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(20 + body.len()).unwrap().to_be_bytes();
    let mut packet = vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 1, host];
    packet.extend(body);
    packet
}

/// Eight bytes in one of 5,000 connections.
fn tcp(number: u32) -> Vec<u8> {
    let port = u16::try_from(10_000 + number % 5000).unwrap();
    let seq = number / 5000 * 8 + 1;
    let mut segment = [port.to_be_bytes(), 443_u16.to_be_bytes()].concat();
    segment.extend([seq.to_be_bytes(), [0, 0, 0, 1], [0x50, 0x10, 2, 0], [0; 4], [7; 4], [7; 4]].concat());
    ip(6, 2, &segment)
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + payload.len()).unwrap();
    let header = [40_000_u16.to_be_bytes(), port.to_be_bytes(), size.to_be_bytes(), [0, 0]].concat();
    ip(17, 3, &[&header[..], payload].concat())
}

fn dns(number: u32) -> Vec<u8> {
    let [.., high, low] = number.to_be_bytes();
    let question = b"\x03www\x07example\x04test\x00\x00\x01\x00\x01";
    udp(53, &[&[high, low, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], question].concat())
}

fn arp(number: u32) -> Vec<u8> {
    let [.., high, low] = number.to_be_bytes();
    let mut body = vec![0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, high, low, 10, 0, high, low];
    body.extend([0; 10]);
    body
}

/// The same packets in pcapng.
fn blocks(classic: &[u8]) -> Vec<u8> {
    let section = [0x0a0d_0d0a_u32, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28];
    let interface = [1, 20, 1, 0, 20];
    let mut file: Vec<u8> = section.iter().chain(&interface).flat_map(|word| word.to_le_bytes()).collect();
    frames(classic, |frame| {
        let (size, micros) = (u32::try_from(frame.data.len()).unwrap(), frame.time / 1000);
        let whole = 32 + size.next_multiple_of(4);
        let head = [6, whole, 0, (micros >> 32) as u32, micros as u32, size, size];
        file.extend(head.map(u32::to_le_bytes).concat());
        file.extend(frame.data);
        file.resize(file.len().next_multiple_of(4), 0);
        file.extend(whole.to_le_bytes());
    })
    .unwrap();
    file
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("pcap");
    group.throughput(Throughput::Elements(u64::from(PACKETS)));
    let small = capture(|number| ether(0x0800, &tcp(number)));
    group.bench_function("read pcapng", |bench| {
        let blocks = blocks(&small);
        bench.iter(|| {
            frames(&blocks[..], |frame| {
                black_box(frame.data);
            })
            .unwrap()
        });
    });
    group.bench_function("read", |bench| {
        bench.iter(|| {
            frames(&small[..], |frame| {
                black_box(frame.data);
            })
            .unwrap()
        });
    });
    // A protocol that nobody has: all headers are walked through, and nothing is remembered of them.
    let nobody = |number: u32| ether(0x0800, &ip(253, 2, &number.to_be_bytes()));
    let tagged =
        |number: u32| ether(0x8100, &[&[0, 7, 8, 0][..], &ip(253, 2, &number.to_be_bytes())].concat());
    let wrapped = |number: u32| {
        let inner = ether(0x0800, &ip(253, 2, &number.to_be_bytes()));
        ether(0x0800, &udp(4789, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &inner].concat()))
    };
    let mixed = |number: u32| match number % 20 {
        0 => ether(0x0800, &dns(number)),
        1 => ether(0x0806, &arp(number)),
        2 | 3 => ether(0x0800, &udp(9, &[0; 8])),
        _ => ether(0x0800, &tcp(number)),
    };
    let tunnel = |number| {
        let inner = ether(0x0800, &tcp(number));
        ether(0x0800, &udp(4789, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &inner].concat()))
    };
    for (name, file) in [
        ("layers", capture(nobody)),
        ("layers, vlan", capture(tagged)),
        ("layers, vxlan", capture(wrapped)),
        ("tcp", small.clone()),
        ("whole", capture(mixed)),
        ("arp", capture(|number| ether(0x0806, &arp(number)))),
        ("udp", capture(|_| ether(0x0800, &udp(9, &[0; 8])))),
        ("dns", capture(|number| ether(0x0800, &dns(number)))),
        ("tcp in vxlan", capture(tunnel)),
    ] {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut analyzer = Analyzer::new(Scope::default());
                let ending = frames(&file[..], |frame| {
                    black_box(analyzer.feed(frame));
                })
                .unwrap();
                analyzer.finish(&ending)
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
