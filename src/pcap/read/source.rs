//! The bytes of a capture: unpacked where they are packed, digested on the way where that is asked for.

use std::cell::RefCell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest as _, Sha256};

use crate::pcap::error::Error;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const HEAD: usize = 64 * 1024;

/// The trouble that a reader hid: the parser above knows no causes.
pub(super) type Trouble = Rc<RefCell<Option<io::Error>>>;

/// A stream of unpacked bytes.
pub(super) struct Source<'a> {
    head: io::Cursor<Vec<u8>>,
    rest: Box<dyn Read + 'a>,
    trouble: Trouble,
}

impl<'a> Source<'a> {
    /// Opens a stream and reads its beginning.
    pub(super) fn open(raw: impl Read + 'a) -> Result<Self, Error> {
        let mut raw = BufReader::with_capacity(HEAD, raw);
        let mut first = Vec::new();
        read_up_to(&mut raw, 2, &mut first).map_err(Error::Read)?;
        let packed = first == GZIP;
        let whole = io::Cursor::new(first).chain(raw);
        let mut rest: Box<dyn Read + 'a> = if packed {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(HEAD, whole)))
        } else {
            Box::new(whole)
        };
        let mut head = Vec::new();
        let trouble = match read_up_to(&mut rest, HEAD, &mut head) {
            Ok(()) => None,
            Err(error) if packed && head.is_empty() => return Err(Error::Packed(error)),
            Err(error) if head.is_empty() => return Err(Error::Read(error)),
            Err(error) => Some(error),
        };
        if head.is_empty() {
            return Err(Error::Empty);
        }
        Ok(Self { head: io::Cursor::new(head), rest, trouble: Rc::new(RefCell::new(trouble)) })
    }

    /// Returns the first bytes without taking them.
    pub(super) fn peek(&self) -> &[u8] {
        self.head.get_ref()
    }

    /// Returns where read errors end up: to the parser they look like the end of the file.
    pub(super) fn trouble(&self) -> Trouble {
        Rc::clone(&self.trouble)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.head.read(buffer)?;
        if size > 0 || buffer.is_empty() {
            return Ok(size);
        }
        if self.trouble.borrow().is_some() {
            return Ok(0);
        }
        loop {
            match self.rest.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    *self.trouble.borrow_mut() = Some(error);
                    return Ok(0);
                }
                read => return read,
            }
        }
    }
}

fn read_up_to(source: &mut impl Read, most: usize, into: &mut Vec<u8>) -> io::Result<()> {
    source.take(most as u64).read_to_end(into).map(|_| ())
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
