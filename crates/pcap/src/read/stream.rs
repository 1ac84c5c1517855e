//! A capture that is all there: from its first byte to its last.

use std::io::Read;

use super::frame::{Ending, Frame};
use super::reader::Reader;
use super::source::Source;
use crate::error::Error;

/// Reads a capture and hands each frame to `each`. A packed capture is unpacked.
///
/// # Errors
/// Fails where it is no capture at all. Whatever is damaged further on is passed over, and told with its place.
pub fn frames<'a>(raw: impl Read + 'a, mut each: impl FnMut(&Frame<'_>)) -> Result<Ending, Error> {
    let mut source = Source::open(raw)?;
    let mut reader = Reader::new();
    if source.is_packed() {
        reader.unpacked();
    }
    let mut over = false;
    loop {
        while let Some(frame) = reader.frame()? {
            each(&frame);
        }
        if over {
            return Ok(reader.ending());
        }
        match source.read(reader.room()) {
            Ok(0) => {
                reader.no_more();
                over = true;
            }
            Ok(count) => reader.filled(count),
            Err(error) if reader.is_fresh() && source.is_packed() => return Err(Error::Packed(error)),
            Err(error) if reader.is_fresh() => return Err(Error::Read(error)),
            Err(error) => {
                reader.broken(&error.to_string());
                over = true;
            }
        }
    }
}
