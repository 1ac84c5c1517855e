//! Reads frames from bytes as they arrive, or from a whole stream. It opens no file and reads no clock.

use std::io::Read;

use super::block::{Blocks, SECTION};
use super::classic::Classic;
use super::damage::Damage;
use super::frame::{Format, Frame, ReadSummary};
use super::source::{Buffer, GZIP, Source};
use crate::error::Error;

/// A record that claims more than this is damage, not a packet.
pub(super) const MAX_RECORD_BYTES: usize = 16 * 1024 * 1024;
const MAX_WARNINGS: usize = 20;
const CLASSIC: u32 = 0xa1b2_c3d4;
const CLASSIC_SWAPPED: u32 = CLASSIC.swap_bytes();
const FINE: u32 = 0xa1b2_3c4d;
const FINE_SWAPPED: u32 = FINE.swap_bytes();
/// Of a patched libpcap: its records have eight bytes more in front.
const MODIFIED: u32 = 0xa1b2_cd34;
const MODIFIED_SWAPPED: u32 = MODIFIED.swap_bytes();

/// Reads the frames of a capture that is there in part: what is half there is waited for.
///
/// ```
/// use ghost_pcap::Reader;
///
/// let capture = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
/// let record = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0xab, 0xcd];
/// let mut reader = Reader::new();
/// let mut seen = 0;
/// for byte in capture.into_iter().chain(record) {
///     reader.room()[0] = byte;
///     reader.filled(1);
///     while reader.frame()?.is_some() {
///         seen += 1;
///     }
/// }
/// assert_eq!(seen, 1);
/// # Ok::<(), ghost_pcap::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Reader {
    buffer: Buffer,
    kind: Kind,
    /// Bytes of the frame that was handed out last.
    taken: usize,
    account: ReaderState,
}

/// What is known of the whole so far.
#[derive(Debug)]
pub(super) struct ReaderState {
    pub(super) number: u64,
    pub(super) ending: ReadSummary,
    /// No more bytes will come.
    pub(super) last: bool,
    /// Packets whose time is beyond what can be expressed.
    pub(super) odd_times: u64,
    /// Packets whose records hold no time.
    pub(super) timeless: u64,
    pub(super) damage: Option<Damage>,
    untold: u64,
    unpacked: bool,
}

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Unknown,
    Classic(Classic),
    Blocks(Blocks),
}

/// What one look at the bytes led to.
pub(super) enum ReadStep {
    /// Something was read that is no packet.
    Again,
    /// More bytes are needed, or it is over.
    Wait,
    /// How many bytes were passed over.
    Skip(usize),
    /// Here is a packet.
    Packet(Packet),
}

/// A packet: its bytes are in the buffer.
pub(super) struct Packet {
    pub(super) time: u64,
    pub(super) interface: u32,
    pub(super) link: u16,
    pub(super) wire: usize,
    /// Where its bytes begin and end, from the beginning of the record.
    pub(super) from: usize,
    pub(super) to: usize,
    /// How long the record is.
    pub(super) whole: usize,
}

impl Default for ReaderState {
    fn default() -> Self {
        Self {
            number: 0,
            ending: ReadSummary::new(Format::Pcapng),
            last: false,
            odd_times: 0,
            timeless: 0,
            damage: None,
            untold: 0,
            unpacked: false,
        }
    }
}

impl Reader {
    /// Begins a capture.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that the bytes were packed: places are then those of the unpacked bytes.
    pub(super) fn unpacked(&mut self) {
        self.account.unpacked = true;
    }

    /// Returns where further bytes of the capture are put. It is never empty.
    pub fn room(&mut self) -> &mut [u8] {
        self.release();
        self.buffer.room()
    }

    /// Takes over so many bytes that were put into the room.
    pub fn filled(&mut self, count: usize) {
        self.buffer.filled(count);
    }

    /// Says that no more bytes will come: what is half there stays so.
    pub fn no_more(&mut self) {
        self.account.last = true;
    }

    /// Says that the bytes ended for a reason.
    pub fn broken(&mut self, why: &str) {
        self.account.ending.cut_off = true;
        let number = self.account.number;
        self.account.warn(format!("reading stopped early: {why}; nothing behind frame {number} was read"));
        self.no_more();
    }

    /// Tells whether any byte came.
    pub(super) fn is_fresh(&self) -> bool {
        self.buffer.offset() == 0 && self.buffer.held().is_empty()
    }

    /// Returns the next frame; nothing where that takes more bytes, or where all of them were read.
    ///
    /// # Errors
    /// Fails where it is no capture at all. Whatever is damaged further on is passed over, and reported.
    pub fn frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        self.release();
        let packet = loop {
            let (held, offset) = (self.buffer.held(), self.buffer.offset());
            let step = match &mut self.kind {
                Kind::Unknown => match begin(held, &mut self.account)? {
                    None => return Ok(None),
                    Some((kind, size)) => {
                        self.kind = kind;
                        ReadStep::Skip(size)
                    }
                },
                Kind::Classic(classic) => classic.step(held, offset, &mut self.account),
                Kind::Blocks(blocks) => blocks.step(held, offset, &mut self.account),
            };
            match step {
                ReadStep::Again => {}
                ReadStep::Wait => return Ok(None),
                ReadStep::Skip(count) => self.buffer.skip(count),
                ReadStep::Packet(packet) => break packet,
            }
        };
        self.account.number += 1;
        self.taken = packet.whole;
        Ok(Some(Frame {
            number: self.account.number,
            time: packet.time,
            interface: packet.interface,
            link: packet.link,
            wire: packet.wire,
            data: self.buffer.held().get(packet.from..packet.to).unwrap_or_default(),
        }))
    }

    /// Returns what is known of the capture.
    #[must_use]
    pub fn ending(&self) -> ReadSummary {
        let mut ending = self.account.ending.clone();
        if let Kind::Blocks(blocks) = &self.kind {
            ending.dropped = blocks.dropped();
        }
        let more = [
            (self.account.untold, "more places are damaged or odd"),
            (self.account.odd_times, "packets claim a time before 1970 or after 2554; the nearest was taken"),
            (self.account.timeless, "packets are in records without a time; they count as of 1970"),
        ];
        let counted = more.into_iter().filter(|(count, _)| *count > 0);
        ending.warnings.extend(counted.map(|(count, what)| format!("{count} {what}")));
        ending
    }

    fn release(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        self.buffer.skip(taken);
    }
}

/// Finds out what kind of file it is, and how long its header is.
fn begin(held: &[u8], account: &mut ReaderState) -> Result<Option<(Kind, usize)>, Error> {
    let cut = |error| if account.last { Err(error) } else { Ok(None) };
    let Some(magic) = held.first_chunk() else {
        return cut(if held.is_empty() { Error::Empty } else { Error::NotACapture });
    };
    match u32::from_le_bytes(*magic) {
        SECTION if held.len() < 28 => cut(Error::HeaderCut),
        SECTION => Blocks::new(held).map(|blocks| Some((Kind::Blocks(blocks), 0))).ok_or(Error::NotACapture),
        CLASSIC | FINE | MODIFIED | CLASSIC_SWAPPED | FINE_SWAPPED | MODIFIED_SWAPPED if held.len() < 24 => {
            cut(Error::HeaderCut)
        }
        CLASSIC | FINE | MODIFIED | CLASSIC_SWAPPED | FINE_SWAPPED | MODIFIED_SWAPPED => {
            let (classic, size) = Classic::new(held, &mut account.ending).ok_or(Error::NotACapture)?;
            Ok(Some((Kind::Classic(classic), size)))
        }
        _ if held.starts_with(&GZIP) => Err(Error::StillPacked),
        _ => Err(Error::NotACapture),
    }
}

impl ReaderState {
    /// Warns, unless that was done often enough.
    pub(super) fn warn(&mut self, text: String) {
        if self.ending.warnings.len() < MAX_WARNINGS {
            self.ending.warnings.push(text);
        } else {
            self.untold += 1;
        }
    }

    /// Returns how a place is written.
    pub(super) fn place(&self, offset: u64) -> String {
        if self.unpacked { format!("byte {offset} (unpacked)") } else { format!("byte {offset}") }
    }

    /// Ends within a record.
    pub(super) fn cut(&mut self, rest: usize) -> ReadStep {
        if rest > 0 {
            self.ending.cut_off = true;
        }
        ReadStep::Wait
    }
}

/// Reads a capture and passes each frame to `each`. A packed capture is unpacked.
///
/// # Errors
/// Fails where it is no capture at all. Whatever is damaged further on is passed over, and reported with its place.
pub fn frames<'a>(raw: impl Read + 'a, mut each: impl FnMut(&Frame<'_>)) -> Result<ReadSummary, Error> {
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
