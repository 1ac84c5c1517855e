//! Files that come in chunks: the same frames, whatever the chunks are.

use proptest::prelude::*;

use super::file::{Seen, block, classic, interface, packet, read, section};
use crate::error::Error;
use crate::read::{ReadSummary, Reader};

/// Reads a file in chunks of these sizes, again and again.
fn in_chunks(file: &[u8], sizes: &[usize]) -> Result<(Vec<Seen>, ReadSummary), Error> {
    let mut reader = Reader::new();
    let mut seen = Vec::new();
    let mut rest = file;
    let mut sizes = sizes.iter().cycle();
    loop {
        while let Some(frame) = reader.frame()? {
            seen.push((frame.number, frame.time, frame.link, frame.wire, frame.data.len()));
        }
        if rest.is_empty() {
            reader.no_more();
            while let Some(frame) = reader.frame()? {
                seen.push((frame.number, frame.time, frame.link, frame.wire, frame.data.len()));
            }
            return Ok((seen, reader.ending()));
        }
        let room = reader.room();
        let count = (*sizes.next().unwrap()).min(rest.len()).min(room.len());
        room[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        reader.filled(count);
    }
}

fn some() -> [Vec<u8>; 2] {
    let records: Vec<(u32, u32, &[u8])> =
        (100..130).map(|second| (second, 7, &[9_u8; 44][..(second % 44) as usize])).collect();
    let mut blocks = [section(false), interface(1, None), interface(101, Some(9))].concat();
    for second in 0..30 {
        blocks.extend(packet((second % 2) as u32, second, &[7; 60][..(second * 2) as usize]));
    }
    blocks.extend([section(true), block(1, true, &[0, 1, 0, 0, 0, 0, 0, 0])].concat());
    blocks.extend(block(3, true, &[0, 0, 0, 2, b'x', b'y']));
    [classic(0xa1b2_c3d4, true, &records), blocks]
}

#[test]
fn a_file_that_comes_byte_by_byte_is_the_same() {
    for file in some() {
        let (seen, ending) = in_chunks(&file, &[1]).unwrap();
        assert_eq!((seen, ending), read(&file).unwrap());
    }
}

#[test]
fn a_half_written_record_is_waited_for() {
    let [file, _] = some();
    let mut reader = Reader::new();
    let (first, rest) = file.split_at(24 + 16 + 5);
    for (chunk, count) in [(first, 0), (rest, 30)] {
        reader.room()[..chunk.len()].copy_from_slice(chunk);
        reader.filled(chunk.len());
        let mut seen = 0;
        while reader.frame().unwrap().is_some() {
            seen += 1;
        }
        assert_eq!(seen, count);
    }
    assert!(!reader.ending().cut_off);
}

proptest! {
    #[test]
    fn chunks_and_damage_lead_to_the_same(
        which in 0_usize..2,
        harm in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<proptest::sample::Index>(),
        sizes in proptest::collection::vec(1_usize..300, 1..5),
    ) {
        let mut file = some()[which].clone();
        for (at, byte) in harm {
            let at = at.index(file.len());
            file[at] = byte;
        }
        file.truncate(cut.index(file.len()) + 1);
        match (read(&file), in_chunks(&file, &sizes)) {
            (Ok(whole), Ok(chunks)) => prop_assert_eq!(whole, chunks),
            (Err(whole), Err(chunks)) => prop_assert_eq!(whole.to_string(), chunks.to_string()),
            (whole, chunks) => prop_assert!(false, "{:?} {:?}", whole.is_ok(), chunks.is_ok()),
        }
    }
}
