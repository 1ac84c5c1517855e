//! A TCP header.

use crate::layers::View;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

const MIN_HEADER_BYTES: usize = 20;
/// Two paddings, then timestamps: what most segments carry, and nothing that has to be looked at.
const TIMESTAMPS_ONLY: [u8; 4] = [1, 1, 8, 10];

/// A header of which enough was captured to follow the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
    /// Source and destination.
    pub(crate) ports: (u16, u16),
    /// The sequence number.
    pub(crate) seq: u32,
    /// The acknowledgment number, whatever the flag says.
    pub(crate) ack: u32,
    /// The eight flags.
    pub(crate) flags: u8,
    /// The window as it stands there.
    pub(crate) win: u32,
    /// How many bytes it carries; nothing where that cannot be known.
    pub(crate) len: Option<u32>,
    /// The header is long enough to be one.
    pub(crate) sound: bool,
    /// The fixed part and all options were captured.
    pub(crate) complete: bool,
    /// The time to live of its packet; 0 where it does not matter.
    pub(crate) hops: u8,
    /// The identification of its packet, where it has one.
    pub(crate) id: Option<u16>,
    /// The VLAN that its packet came in; 0 for none.
    pub(crate) vlan: u16,
    /// Many connections are followed: little is remembered of what each has in transit.
    pub(crate) memory_limited: bool,
    header: usize,
    view: View<'a>,
}

impl<'a> Segment<'a> {
    /// Reads a header; nothing where fewer than 16 bytes were captured.
    pub(crate) fn read(view: View<'a>, measurable: bool) -> Option<Self> {
        let head: &[u8; 16] = view.data.first_chunk()?;
        let [p0, p1, p2, p3, s0, s1, s2, s3, a0, a1, a2, a3, offset, flags, w0, w1] = *head;
        let header = usize::from(offset >> 4) * 4;
        let len = if measurable { view.wire.checked_sub(header) } else { None };
        Some(Self {
            ports: (u16::from_be_bytes([p0, p1]), u16::from_be_bytes([p2, p3])),
            seq: u32::from_be_bytes([s0, s1, s2, s3]),
            ack: u32::from_be_bytes([a0, a1, a2, a3]),
            flags,
            win: u32::from(u16::from_be_bytes([w0, w1])),
            len: len.map(|len| len as u32),
            sound: header >= MIN_HEADER_BYTES,
            complete: header >= MIN_HEADER_BYTES && view.data.len() >= header,
            hops: 0,
            id: None,
            vlan: 0,
            memory_limited: false,
            header,
            view,
        })
    }

    /// Tells whether any of these flags is set.
    pub(crate) fn any(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Tells whether it opens a connection: SYN without ACK.
    pub(crate) fn opens(&self) -> bool {
        self.flags & (SYN | ACK) == SYN
    }

    /// Tells whether it answers that.
    pub(crate) fn accepts(&self) -> bool {
        self.flags & (SYN | ACK) == SYN | ACK
    }

    /// Returns the checksum, or 0 where it was not captured.
    pub(crate) fn sum(&self) -> u16 {
        self.view.u16(16).unwrap_or(0)
    }

    /// Returns what it carries.
    pub(crate) fn payload(&self) -> View<'a> {
        self.view.skip(self.header)
    }

    /// Returns the options that matter.
    pub(crate) fn options(&self) -> Options<'a> {
        let mut found = Options::default();
        let Some(mut rest) = self.view.data.get(MIN_HEADER_BYTES..self.header.min(self.view.data.len()))
        else {
            return found;
        };
        if rest.len() == 12 && rest.starts_with(&TIMESTAMPS_ONLY) {
            return found;
        }
        loop {
            rest = match rest {
                [] | [0, ..] => return found,
                [1, after @ ..] => after,
                [kind, length, ..] => {
                    let length = usize::from(*length);
                    let (Some(option), Some(after)) = (rest.get(2..length), rest.get(length..)) else {
                        return found;
                    };
                    match (kind, option) {
                        (2, [high, low]) => found.mss = u16::from_be_bytes([*high, *low]),
                        // More than 14 means 14.
                        (3, [shift]) => found.shift = Some((*shift).min(14)),
                        (5, blocks) => found.sack = blocks,
                        _ => {}
                    }
                    after
                }
                [_] => return found,
            };
        }
    }
}

/// The options that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Options<'a> {
    /// By how much windows are shifted.
    pub(crate) shift: Option<u8>,
    /// The largest segment that it takes; 0 where it does not say.
    pub(crate) mss: u16,
    /// What it holds beyond its acknowledgment: pairs of numbers.
    pub(crate) sack: &'a [u8],
}
