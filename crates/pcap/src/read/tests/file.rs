//! Captures, made for tests, and what is read from them.

use crate::error::Error;
use crate::read::{ReadSummary, frames};

/// Number, time, link type, bytes on the wire, bytes captured.
pub(super) type Seen = (u64, u64, u16, usize, usize);

pub(super) fn read(file: &[u8]) -> Result<(Vec<Seen>, ReadSummary), Error> {
    let mut seen = Vec::new();
    let ending = frames(file, |frame| {
        seen.push((frame.number, frame.time, frame.link, frame.wire, frame.data.len()));
    })?;
    Ok((seen, ending))
}

pub(super) fn classic(magic: u32, big: bool, records: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    let half = |half: u16| if big { half.to_be_bytes() } else { half.to_le_bytes() };
    let mut file = word(magic).to_vec();
    file.extend([half(2), half(4)].concat());
    file.extend([word(0), word(0), word(65_535), word(101)].concat());
    for (seconds, fraction, data) in records {
        let size = u32::try_from(data.len()).unwrap();
        file.extend([word(*seconds), word(*fraction), word(size), word(size + 4)].concat());
        file.extend(*data);
    }
    file
}

pub(super) fn block(kind: u32, big: bool, body: &[u8]) -> Vec<u8> {
    let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let size = word(u32::try_from(body.len()).unwrap() + 12);
    [&word(kind)[..], &size, &body, &size].concat()
}

pub(super) fn section(big: bool) -> Vec<u8> {
    let order: u32 = 0x1a2b_3c4d;
    let mut body = if big { order.to_be_bytes() } else { order.to_le_bytes() }.to_vec();
    body.extend(if big { [0, 1, 0, 0] } else { [1, 0, 0, 0] });
    body.extend([0xff; 8]);
    block(0x0a0d_0d0a, big, &body)
}

pub(super) fn interface(link: u16, resolution: Option<u8>) -> Vec<u8> {
    let mut body = [&link.to_le_bytes()[..], &[0, 0], &[0; 4]].concat();
    if let Some(resolution) = resolution {
        body.extend([9, 0, 1, 0, resolution, 0, 0, 0, 0, 0, 0, 0]);
    }
    block(1, false, &body)
}

pub(super) fn packet(interface: u32, ticks: u64, data: &[u8]) -> Vec<u8> {
    let size = u32::try_from(data.len()).unwrap();
    let mut body = Vec::new();
    for word in [interface, (ticks >> 32) as u32, ticks as u32, size, size] {
        body.extend(word.to_le_bytes());
    }
    body.extend(data);
    block(6, false, &body)
}
