//! How many packets a second are read and analyzed, by what is in them.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use ghost_agent::pcap::{Analyzer, Scope, frames};

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

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("pcap");
    group.throughput(Throughput::Elements(u64::from(PACKETS)));
    let small = capture(|number| ether(0x0800, &tcp(number)));
    group.bench_function("read", |bench| {
        bench.iter(|| {
            frames(&small[..], |frame| {
                black_box(frame.data);
            })
            .unwrap()
        });
    });
    let tunnel = |number| {
        let inner = ether(0x0800, &tcp(number));
        ether(0x0800, &udp(4789, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &inner].concat()))
    };
    for (name, file) in [
        ("arp", capture(|number| ether(0x0806, &arp(number)))),
        ("udp", capture(|_| ether(0x0800, &udp(9, &[0; 8])))),
        ("dns", capture(|number| ether(0x0800, &dns(number)))),
        ("tcp", small.clone()),
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
