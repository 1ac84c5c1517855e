//! The pictures, and their PNG files.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use super::{flow, packets, rtt};
use crate::summary::Summary;

/// A chart as a PNG file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// `packets`, `rtt` or `flow`: what its file is called after.
    pub kind: &'static str,
    /// What it shows, for who cannot see it.
    pub title: String,
    /// The file.
    pub png: Vec<u8>,
}

/// The kinds of pictures, in their order.
pub const PICTURES: [&str; 3] = ["packets", "rtt", "flow"];

/// A picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the picture could not be drawn: {0}")]
pub struct PlotError(pub(super) String);

/// Draws what there is data for, from an account whose [`Scope`](crate::Scope) asked for pictures; `name` is the capture's.
///
/// # Errors
/// Fails where drawing itself fails, which no capture brings about.
pub fn pictures(summary: &Summary, name: &str) -> Result<Vec<Picture>, PlotError> {
    let Some(series) = &summary.series else {
        return Ok(Vec::new());
    };
    let name = legible(name);
    let all = [
        packets::packets(&series.timeline, &name)?,
        rtt::rtt(&series.timeline, &name)?,
        series.worst.as_ref().map_or(Ok(None), |trace| flow::flow(trace, series.timeline.origin(), &name))?,
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Returns a name in letters that the font has, and not too many of them.
fn legible(name: &str) -> String {
    const MAX_NAME_LEN: usize = 40;
    let mut out: String = name
        .chars()
        .take(MAX_NAME_LEN)
        .map(|char| if char == ' ' || char.is_ascii_graphic() { char } else { '?' })
        .collect();
    if name.chars().nth(MAX_NAME_LEN).is_some() {
        out.push('…');
    }
    out
}

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
