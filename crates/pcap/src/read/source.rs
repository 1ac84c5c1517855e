//! The bytes of a capture: unpacked where they are packed, digested on the way where that is asked for.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// What packed bytes begin with.
pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];
const AT_ONCE: usize = 64 * 1024;

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
            Box::new(Members { member: Some(GzDecoder::new(BufReader::with_capacity(AT_ONCE, whole))) })
        } else {
            Box::new(whole)
        };
        Ok(Self { stream, packed })
    }

    /// Says whether it is packed.
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

/// Looks for another member.
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
pub struct Digested<R> {
    inner: R,
    hasher: Sha256,
}

impl<R: Read> Digested<R> {
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

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..size).unwrap_or_default());
        Ok(size)
    }
}
