//! The bytes of a capture: decompressed, hashed on request, and the buffer of bytes that are not parsed yet.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// What packed bytes begin with.
pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];
const READ_BYTES: usize = 64 * 1024;

/// A stream of unpacked bytes.
pub(super) struct Source<'a> {
    stream: Box<dyn Read + 'a>,
    packed: bool,
}

impl<'a> Source<'a> {
    /// Opens a stream: its first two bytes say whether it is packed.
    pub(super) fn open(mut raw: impl Read + 'a) -> Result<Self, Error> {
        let mut first = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut first).map_err(Error::Read)?;
        let packed = first == GZIP;
        let whole = io::Cursor::new(first).chain(raw);
        let stream: Box<dyn Read + 'a> = if packed {
            Box::new(Members { member: Some(GzDecoder::new(BufReader::with_capacity(READ_BYTES, whole))) })
        } else {
            Box::new(whole)
        };
        Ok(Self { stream, packed })
    }

    /// Tells whether it is packed.
    pub(super) fn is_packed(&self) -> bool {
        self.packed
    }

    /// Reads what there is, at least a byte unless it is over.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// Unpacks one member after another. Zeros behind the last one are padding.
struct Members<R> {
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.member =
                self.member.take().map(GzDecoder::into_inner).map(next_member).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// Searches for another member.
fn next_member<R: BufRead>(mut packed: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let waiting = packed.fill_buf()?;
        let zeros = waiting.iter().take_while(|byte| **byte == 0).count();
        match waiting.get(zeros) {
            None if zeros == 0 => return Ok(None),
            None => packed.consume(zeros),
            Some(first) if *first == GZIP[0] => {
                packed.consume(zeros);
                return Ok(Some(GzDecoder::new(packed)));
            }
            Some(_) => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "what follows there is not packed"));
            }
        }
    }
}

/// Digests what is read through it.
pub struct HashingReader<R> {
    inner: R,
    hasher: Sha256,
}

impl<R: Read> HashingReader<R> {
    /// Wraps a reader.
    pub fn new(inner: R) -> Self {
        Self { inner, hasher: Sha256::new() }
    }

    /// Reads what is left and returns the digest in hexadecimal.
    ///
    /// # Errors
    /// Fails where the rest cannot be read.
    pub fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..size).unwrap_or_default());
        Ok(size)
    }
}

/// Small enough for a small capture.
const INITIAL_BYTES: usize = 64 * 1024;
/// Large enough that reading costs little, small enough to stay in the cache.
const MAX_KEPT_BYTES: usize = 512 * 1024;

/// A window that moves over a file. It grows with the record that has to fit, and never beyond what its owner asks for.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Where the window begins in the file.
    offset: u64,
    /// The last read filled all the room there was: more is waiting.
    busy: bool,
}

impl Buffer {
    /// Returns what is there.
    pub(super) fn held(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns where in the file that begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Forgets bytes at the beginning.
    pub(super) fn skip(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Returns room for further bytes, never none.
    pub(super) fn room(&mut self) -> &mut [u8] {
        let held = self.end - self.start;
        let wanted =
            if self.busy { MAX_KEPT_BYTES } else { INITIAL_BYTES }.max(held * 2).max(self.bytes.len());
        if self.bytes.len() - self.end < wanted / 2 && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = held;
        }
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    /// Takes over bytes that were put into the room.
    pub(super) fn filled(&mut self, count: usize) {
        let room = self.bytes.len() - self.end;
        self.busy = count >= room;
        self.end += count.min(room);
    }
}
