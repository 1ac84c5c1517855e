//! The file of a picture.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// A picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the picture could not be drawn: {0}")]
pub struct PlotError(pub(super) String);

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];

/// Writes three bytes a pixel, row by row, as a file.
pub(super) fn encode(pixels: &[u8], (width, height): (u32, u32)) -> std::io::Result<Vec<u8>> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.chunks(width.max(1) as usize * 3) {
        // Rows of large areas of one color need no filter.
        packed.write_all(&[0])?;
        packed.write_all(row)?;
    }
    let packed = packed.finish()?;
    let mut header = Vec::new();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    // Eight bits, red green blue, with the only compression and filter methods that exist; not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut out = SIGNATURE.to_vec();
    chunk(&mut out, *b"IHDR", &header);
    chunk(&mut out, *b"IDAT", &packed);
    chunk(&mut out, *b"IEND", &[]);
    Ok(out)
}

fn chunk(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(&kind);
    sum.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(sum.sum().to_be_bytes());
}
