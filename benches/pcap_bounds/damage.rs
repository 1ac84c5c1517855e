//! Damaged files and frames: an account or an error, whichever pieces they come in.

use std::path::Path;
use std::sync::atomic::Ordering;

use ghost_pcap::{Analyzer, Error, Format, Frame, ReadSummary, Reader, Scope, frames, markdown};

use crate::ROUND;
use crate::mutate::Corpus;
use crate::random::{Random, seed, setting};

/// So many frames are taken by one analyzer before the next begins.
const LIFE: u64 = 500_000;

/// Feeds damaged files to readers and damaged frames to analyzers; returns how many files and packets.
pub(crate) fn any_bytes_end_in_an_answer(rounds: u64) -> (u64, u64) {
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
                &ReadSummary::new(Format::Pcap),
            );
        }
    }
    packets += lived;
    end(analyzer, &ReadSummary::new(Format::Pcap));
    (files, packets)
}

/// Ends a pass: its account is short, and can be told.
fn end(analyzer: Analyzer, ending: &ReadSummary) {
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

fn in_pieces(bytes: &[u8], random: &mut Random) -> Result<(u64, ReadSummary), Error> {
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
