//! Captures and frames that are damaged where it hurts: bits, lengths, cuts, splices. From small captures of every kind.

use std::fs;
use std::path::Path;

use ghost_pcap::frames;

use crate::random::Random;

/// Numbers that readers stumble over.
const ODD: [u32; 12] = [0, 1, 2, 4, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff];

/// The captures below `tests/fixtures/pcap`, and their frames.
pub(crate) struct Corpus {
    files: Vec<Vec<u8>>,
    frames: Vec<(u16, Vec<u8>)>,
}

impl Corpus {
    /// Reads the captures, and those of another folder where one is named.
    pub(crate) fn load(other: Option<&Path>) -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pcap");
        let mut paths: Vec<_> = [Some(own.as_path()), other]
            .into_iter()
            .flatten()
            .flat_map(|folder| fs::read_dir(folder).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .collect();
        paths.sort();
        let files: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
        let mut kept = Vec::new();
        for file in &files {
            drop(frames(&file[..], |frame| kept.push((frame.link, frame.data.to_vec()))));
        }
        Self { files, frames: kept }
    }

    /// Puts a damaged file into a buffer.
    pub(crate) fn file(&self, random: &mut Random, into: &mut Vec<u8>) {
        into.clear();
        into.extend(random.pick::<Vec<u8>>(&self.files));
        for _ in 0..random.below(5) {
            let other = random.pick::<Vec<u8>>(&self.files);
            hurt(random, into, other);
        }
    }

    /// Puts a damaged frame into a buffer, and returns its link type.
    pub(crate) fn frame(&self, random: &mut Random, into: &mut Vec<u8>) -> u16 {
        let (link, data) = random.pick(&self.frames);
        into.clear();
        into.extend(data);
        for _ in 0..random.below(4) {
            let (_, other) = random.pick(&self.frames);
            hurt(random, into, other);
        }
        // Some come under a link type that is not theirs.
        if random.below(16) == 0 { random.pick(&self.frames).0 } else { *link }
    }
}

/// Damages bytes once.
fn hurt(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(bytes.len());
    let some = random.below(64);
    let end = (at + some).min(bytes.len());
    match random.below(9) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.next() as u8;
            }
        }
        // A number of two or four bytes, in either order: most lengths are such.
        3 | 4 => {
            let number = *random.pick(&ODD) ^ u32::from(random.below(4) == 0);
            let number = if random.below(2) == 0 { number.to_be_bytes() } else { number.to_le_bytes() };
            let (from, size) = *random.pick(&[(0, 4), (0, 2), (2, 2)]);
            let places = bytes.iter_mut().skip(at & !1);
            for (byte, new) in places.zip(number.iter().skip(from).take(size)) {
                *byte = *new;
            }
        }
        5 => bytes.truncate(at),
        6 => drop(bytes.drain(at..end)),
        7 => {
            let again = bytes.get(at..end).unwrap().to_vec();
            bytes.splice(at..at, again);
        }
        _ => {
            let from = random.below(other.len());
            let chunk = other.iter().copied().skip(from).take(some * 4);
            bytes.splice(at..end, chunk);
        }
    }
}
