//! The classic format: a header, then records one after another.

use pcap_parser::parse_pcap_header;

use super::damage::{Damage, Guess};
use super::frame::{ByteOrder, Format, ReadSummary};
use super::reader::{MAX_RECORD_BYTES, Packet, ReadStep, ReaderState};

/// The most that the usual tools write of a packet. A header may promise more.
const MAX_USUAL_RECORD: usize = 256 * 1024;
/// How many records have to follow each other before bytes behind a damaged one are taken for records again.
const MIN_RECORD_CHAIN: usize = 3;
/// How far the times of two records next to damage lie apart at most, in seconds.
const MAX_RECORD_TIME_GAP: u64 = 24 * 3600;

/// A classic capture.
#[derive(Debug)]
pub(super) struct Classic {
    order: ByteOrder,
    /// Nanoseconds a tick.
    nanos: u64,
    link: u16,
    /// How long the header of a record is.
    head: usize,
    most: usize,
    /// Seconds of the last record.
    seconds: Option<u32>,
}

/// The header of a record.
#[derive(Clone, Copy)]
struct Head {
    seconds: u32,
    fraction: u32,
    captured: usize,
    wire: usize,
}

impl Classic {
    /// Reads the header of the file; returns how long it is as well.
    pub(super) fn new(held: &[u8], ending: &mut ReadSummary) -> Option<(Self, usize)> {
        let modified =
            matches!(held.first_chunk(), Some([0x34, 0xcd, 0xb2, 0xa1] | [0xa1, 0xb2, 0xcd, 0x34]));
        let mut first: [u8; 24] = *held.first_chunk()?;
        // The parser knows the modified form in one byte order alone.
        match first.first_chunk_mut() {
            Some(magic @ [0xa1, 0xb2, 0xcd, 0x34]) => *magic = [0xa1, 0xb2, 0xc3, 0xd4],
            Some(magic @ [0x34, 0xcd, 0xb2, 0xa1]) => *magic = [0xd4, 0xc3, 0xb2, 0xa1],
            _ => {}
        }
        let (_, header) = parse_pcap_header(&first).ok()?;
        let fine = header.is_nanosecond_precision();
        ending.format = if fine { Format::PcapNs } else { Format::Pcap };
        // The upper half holds flags about frame check sequences.
        let link = (header.network.0 & 0xffff) as u16;
        ending.links.push(link);
        let classic = Self {
            order: if header.is_bigendian() { ByteOrder::Big } else { ByteOrder::Little },
            nanos: if fine { 1 } else { 1000 },
            link,
            head: if modified { 24 } else { 16 },
            most: MAX_USUAL_RECORD.max((header.snaplen as usize).min(MAX_RECORD_BYTES)),
            seconds: None,
        };
        Some((classic, header.size()))
    }

    /// Examines the next record.
    pub(super) fn step(&mut self, held: &[u8], offset: u64, account: &mut ReaderState) -> ReadStep {
        if account.damage.is_some() {
            return Damage::search(account, held, offset, "record", |bytes| self.guess(bytes));
        }
        let Some(head) = self.head(held) else {
            return if account.last { account.cut(held.len()) } else { ReadStep::Wait };
        };
        if head.captured > self.most {
            let what = format!("it claims {} bytes", head.captured);
            return Damage::begin(account, offset, &what);
        }
        let whole = self.head + head.captured;
        if held.len() < whole {
            return if account.last { account.cut(held.len()) } else { ReadStep::Wait };
        }
        self.seconds = Some(head.seconds);
        let time = u64::from(head.seconds) * 1_000_000_000 + u64::from(head.fraction) * self.nanos;
        ReadStep::Packet(Packet {
            time,
            interface: 0,
            link: self.link,
            wire: head.wire,
            from: self.head,
            to: whole,
            whole,
        })
    }

    fn head(&self, bytes: &[u8]) -> Option<Head> {
        bytes.get(..self.head)?;
        let word = |place| self.order.word_at(bytes, place);
        let (captured, wire) = (word(8)? as usize, word(12)? as usize);
        Some(Head { seconds: word(0)?, fraction: word(4)?, captured, wire })
    }

    /// Tells whether records go on here: several in a row, each of which makes sense.
    fn guess(&self, mut bytes: &[u8]) -> Guess {
        let mut near = self.seconds;
        for _ in 0..MIN_RECORD_CHAIN {
            let Some(head) = self.head(bytes) else {
                return Guess::Open;
            };
            let sound = (1..=self.most).contains(&head.captured)
                && (head.captured..=self.most).contains(&head.wire)
                && u64::from(head.fraction) * self.nanos < 1_000_000_000
                && near.is_none_or(|near| u64::from(head.seconds.abs_diff(near)) < MAX_RECORD_TIME_GAP);
            if !sound {
                return Guess::No;
            }
            near = Some(head.seconds);
            let Some(rest) = bytes.get(self.head + head.captured..) else {
                return Guess::Open;
            };
            bytes = rest;
        }
        Guess::Yes
    }
}
