//! What the PCAP engine never does, counted: allocate for a packet, panic, hang, take memory without end.
//!
//! `cargo test` runs it over 60,000 inputs, `GHOST_LONG=1` over 12 million; `GHOST_FUZZ_CORPUS=FOLDER` adds captures to start from.
#![expect(clippy::unwrap_used, reason = "what cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "its figures are what it is run for")]
#![expect(clippy::indexing_slicing, reason = "a wrong index should stop it")]

use std::alloc::System;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cap::Cap;
use ghost_agent::pcap::{Analyzer, Ending, Error, Format, Frame, Reader, Scope, frames, markdown};

use crate::mutate::Corpus;
use crate::random::{Random, is_long, seed, setting};

#[path = "../tests/it/pcap/mutate.rs"]
mod mutate;
#[path = "../tests/it/random.rs"]
mod random;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

const MEGABYTE: usize = 1024 * 1024;
/// What all that is remembered may take, whatever comes: the bound that README states, and what a report takes.
const MOST: usize = 200 * MEGABYTE;
/// One input that takes longer hangs: each is smaller than 10 kB.
const PATIENCE: Duration = Duration::from_secs(60);
/// So many frames are taken by one analyzer before the next begins.
const LIFE: u64 = 500_000;

static ROUND: AtomicU64 = AtomicU64::new(0);

/// Says which input it was where something panics.
struct Told;

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("pcap_bounds: input {}", ROUND.load(Ordering::Relaxed));
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if std::env::args().any(|word| word == "--list")
        || words.iter().any(|word| !"pcap_bounds".contains(word.as_str()))
    {
        return;
    }
    HEAP.set_limit(1024 * MEGABYTE).unwrap();
    nothing_is_allocated_for_a_packet();
    let rounds = if is_long() { 12_000_000 } else { 60_000 };
    std::thread::spawn(watch);
    let _told = Told;
    let begun = Instant::now();
    let (files, packets) = any_bytes_end_in_an_answer(rounds);
    let peak = HEAP.max_allocated() / MEGABYTE;
    assert!(peak * MEGABYTE < MOST, "{peak} MB");
    println!(
        "pcap_bounds: {rounds} inputs ({files} files, {packets} packets) in {:.0} s, {peak} MB at most",
        begun.elapsed().as_secs_f64()
    );
}

/// Ends the run where one input takes for ever.
fn watch() {
    let mut before = u64::MAX;
    loop {
        std::thread::sleep(PATIENCE);
        let now = ROUND.load(Ordering::Relaxed);
        if now == before {
            println!("pcap_bounds: input {now} hangs");
            std::process::exit(1);
        }
        before = now;
    }
}

/// The second time that the same connections and hosts talk, fewer bytes are allocated than packets are read.
fn nothing_is_allocated_for_a_packet() {
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

fn ip(protocol: u8, reply: bool, body: &[u8]) -> Vec<u8> {
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

/// Feeds damaged files to readers and damaged frames to analyzers; returns how many files and packets.
fn any_bytes_end_in_an_answer(rounds: u64) -> (u64, u64) {
    let other = setting("GHOST_FUZZ_CORPUS");
    let corpus = Corpus::load((!other.is_empty()).then(|| Path::new(&other)));
    let mut random = Random::new(seed("pcap_bounds"));
    let mut analyzer = Analyzer::new(Scope::default());
    let (mut files, mut packets, mut lived) = (0, 0, 0);
    let (mut input, mut time) = (Vec::new(), 1_700_000_000_000_000_000_u64);
    for round in 0..rounds {
        ROUND.store(round, Ordering::Relaxed);
        if round % 4 == 0 {
            corpus.file(&mut random, &mut input);
            packets += file(&input, &mut random);
            files += 1;
            continue;
        }
        let link = corpus.frame(&mut random, &mut input);
        time = match random.below(1000) {
            0 => random.next(),
            1 => time.wrapping_sub(1_000_000_000),
            _ => time.wrapping_add(random.next() >> 38),
        };
        lived += 1;
        let wire = input.len() + random.below(2) * random.below(3000);
        let interface = u32::try_from(random.below(3)).unwrap();
        analyzer.feed(&Frame { number: lived, time, interface, link, wire, data: &input });
        if lived == LIFE / 2 {
            drop(analyzer.findings());
        }
        if lived == LIFE {
            packets += lived;
            lived = 0;
            end(
                std::mem::replace(&mut analyzer, Analyzer::new(Scope::default())),
                &Ending::new(Format::Pcap),
            );
        }
    }
    packets += lived;
    end(analyzer, &Ending::new(Format::Pcap));
    (files, packets)
}

/// Ends a pass: its account is short, and can be told.
fn end(analyzer: Analyzer, ending: &Ending) {
    let summary = analyzer.finish(ending);
    assert!(!markdown(&summary, "any").is_empty());
    assert!(serde_json::to_string(&summary).unwrap().len() < 24_000);
}

/// Reads a file whole and in pieces: both say the same. Returns how many packets there were.
fn file(bytes: &[u8], random: &mut Random) -> u64 {
    let mut analyzer = Analyzer::new(Scope::default());
    let mut whole = 0;
    let ending = frames(bytes, |frame| {
        whole = frame.number;
        analyzer.feed(frame);
    });
    // What is packed is unpacked by another layer.
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        assert!(whole <= bytes.len() as u64 / 12);
        match (&ending, in_pieces(bytes, random)) {
            (Ok(ending), Ok((frames, pieces))) => assert_eq!((whole, ending), (frames, &pieces)),
            (Err(ending), Err(pieces)) => assert_eq!(ending.to_string(), pieces.to_string()),
            (ending, pieces) => panic!("{:?} and {:?}", ending.is_ok(), pieces.is_ok()),
        }
    }
    if let Ok(ending) = ending {
        let summary = analyzer.finish(&ending);
        if random.below(8) == 0 {
            assert!(!markdown(&summary, "any").is_empty());
        }
    }
    whole
}

fn in_pieces(bytes: &[u8], random: &mut Random) -> Result<(u64, Ending), Error> {
    let mut reader = Reader::new();
    let mut number = 0;
    let mut rest = bytes;
    loop {
        while let Some(frame) = reader.frame()? {
            number = frame.number;
        }
        if rest.is_empty() {
            reader.no_more();
            while let Some(frame) = reader.frame()? {
                number = frame.number;
            }
            return Ok((number, reader.ending()));
        }
        let room = reader.room();
        let count = (1 + random.below(700)).min(rest.len()).min(room.len());
        room[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        reader.filled(count);
    }
}
