//! From bytes to frames: one pass, nothing copied, a record at a time.

use std::io::Read;

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, LegacyPcapReader, PcapBlockOwned, PcapError, PcapHeader, PcapNGReader};

use super::frame::{Ending, Format, Frame};
use super::interface::Interface;
use super::source::{Source, Trouble};
use crate::pcap::error::Error;

/// Large enough that reading costs little, small enough to stay in the cache.
const BUFFER: usize = 512 * 1024;
/// A record that claims more than this is damage, not a packet.
const LARGEST: usize = 16 * 1024 * 1024;
/// More interfaces than this are not remembered.
const MOST_INTERFACES: usize = 65_536;
const MOST_WARNINGS: usize = 20;
/// The obsolete packet block of pcapng.
const OLD_PACKET: u32 = 2;

/// Reads a capture and hands each frame to `each`. A packed capture is unpacked.
///
/// # Errors
/// Fails where it is no capture at all. Whatever is damaged further on ends the pass with a warning.
pub fn frames<'a>(raw: impl Read + 'a, mut each: impl FnMut(&Frame<'_>)) -> Result<Ending, Error> {
    let source = Source::open(raw)?;
    let trouble = source.trouble();
    let magic: [u8; 4] = source.peek().first_chunk().copied().ok_or(Error::NotACapture)?;
    let mut pass = Pass {
        number: 0,
        interfaces: Vec::new(),
        big_endian: false,
        nanos: 1000,
        ending: Ending {
            format: Format::Pcapng,
            links: Vec::new(),
            cut_off: false,
            dropped: 0,
            warnings: Vec::new(),
        },
    };
    match u32::from_le_bytes(magic) {
        0x0a0d_0d0a => {
            let reader = PcapNGReader::new(BUFFER, source).map_err(|error| refused(&error))?;
            pass.run(reader, &trouble, &mut each);
        }
        0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1 | 0xa1b2_cd34 => {
            let reader = LegacyPcapReader::new(BUFFER, source).map_err(|error| refused(&error))?;
            pass.run(reader, &trouble, &mut each);
        }
        _ => return Err(Error::NotACapture),
    }
    Ok(pass.ending)
}

fn refused(error: &PcapError<&[u8]>) -> Error {
    match error {
        PcapError::Incomplete(_) | PcapError::UnexpectedEof | PcapError::Eof => Error::HeaderCut,
        PcapError::BufferTooSmall
        | PcapError::ReadError
        | PcapError::HeaderNotRecognized
        | PcapError::NomError(..)
        | PcapError::OwnedNomError(..) => Error::NotACapture,
    }
}

/// What a reader said, freed from its borrow.
enum Said {
    Record(usize),
    More,
    Small,
    End,
    Cut,
    Damaged,
}

struct Pass {
    number: u64,
    interfaces: Vec<Interface>,
    big_endian: bool,
    /// Nanoseconds a tick of a classic capture.
    nanos: u64,
    ending: Ending,
}

impl Pass {
    fn run<R: PcapReaderIterator>(
        &mut self,
        mut reader: R,
        trouble: &Trouble,
        each: &mut impl FnMut(&Frame<'_>),
    ) {
        let mut size = BUFFER;
        loop {
            let said = match reader.next() {
                Ok((length, block)) => {
                    self.record(&block, each);
                    Said::Record(length)
                }
                Err(PcapError::Incomplete(_)) => Said::More,
                Err(PcapError::BufferTooSmall) => Said::Small,
                Err(PcapError::Eof) => Said::End,
                Err(PcapError::UnexpectedEof) => Said::Cut,
                Err(
                    PcapError::ReadError
                    | PcapError::HeaderNotRecognized
                    | PcapError::NomError(..)
                    | PcapError::OwnedNomError(..),
                ) => Said::Damaged,
            };
            match said {
                Said::Record(length) => reader.consume_noshift(length),
                Said::More => {
                    let before = reader.data().len();
                    let stuck = reader.refill().is_err()
                        || (reader.data().len() == before && !reader.reader_exhausted());
                    if stuck {
                        self.damaged("a record cannot be taken apart");
                        return;
                    }
                }
                Said::Small if size < LARGEST => {
                    size *= 2;
                    if !reader.grow(size) || reader.refill().is_err() {
                        self.damaged("a record is larger than can be held");
                        return;
                    }
                }
                Said::Small => {
                    self.damaged("a record claims to be larger than any packet is");
                    return;
                }
                Said::End | Said::Cut => {
                    self.ending.cut_off |= matches!(said, Said::Cut);
                    if let Some(error) = trouble.borrow().as_ref() {
                        self.damaged(&format!("reading stopped early: {error}"));
                    }
                    return;
                }
                Said::Damaged => {
                    self.damaged("a record is damaged");
                    return;
                }
            }
        }
    }

    fn damaged(&mut self, what: &str) {
        self.ending.cut_off = true;
        let number = self.number;
        self.warn(format!("{what}; nothing behind frame {number} was read"));
    }

    fn warn(&mut self, text: String) {
        if self.ending.warnings.len() < MOST_WARNINGS {
            self.ending.warnings.push(text);
        }
    }

    fn record(&mut self, block: &PcapBlockOwned<'_>, each: &mut impl FnMut(&Frame<'_>)) {
        match block {
            PcapBlockOwned::Legacy(packet) => {
                self.number += 1;
                let link = self.ending.links.first().copied().unwrap_or(u16::MAX);
                let time = u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_usec) * self.nanos;
                let wire = packet.origlen as usize;
                each(&Frame { number: self.number, time, link, wire, data: packet.data });
            }
            PcapBlockOwned::LegacyHeader(header) => self.header(header),
            PcapBlockOwned::NG(block) => self.block(block, each),
        }
    }

    fn header(&mut self, header: &PcapHeader) {
        let nanos = header.is_nanosecond_precision();
        self.ending.format = if nanos { Format::PcapNs } else { Format::Pcap };
        self.nanos = if nanos { 1 } else { 1000 };
        // The upper half holds flags about frame check sequences.
        self.ending.links.push((header.network.0 & 0xffff) as u16);
    }

    fn block(&mut self, block: &Block<'_>, each: &mut impl FnMut(&Frame<'_>)) {
        match block {
            Block::SectionHeader(section) => {
                self.interfaces.clear();
                self.big_endian = section.big_endian();
            }
            Block::InterfaceDescription(block) => self.interface(Interface::new(block)),
            Block::EnhancedPacket(packet) => {
                let time = (packet.ts_high, packet.ts_low);
                let captured = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                self.packet(packet.if_id as usize, time, packet.origlen, captured, each);
            }
            Block::SimplePacket(packet) => {
                let snap = self.interfaces.first().map_or(usize::MAX, |interface| interface.snap);
                let size = snap.min(packet.origlen as usize);
                let captured = packet.data.get(..size).unwrap_or(packet.data);
                self.packet(0, (0, 0), packet.origlen, captured, each);
            }
            Block::InterfaceStatistics(block) => {
                let dropped = [block.isb_ifdrop(), block.isb_osdrop()];
                // The parser reads options as little-endian whatever the section says.
                let native = |count: u64| if self.big_endian { count.swap_bytes() } else { count };
                let sum = dropped.into_iter().flatten().flatten().map(native).fold(0, u64::saturating_add);
                self.ending.dropped = self.ending.dropped.saturating_add(sum);
            }
            Block::Unknown(block) if block.block_type == OLD_PACKET => self.old_packet(block.data, each),
            // Other readers show these as frames of their own: the numbers have to agree.
            Block::Custom(_) | Block::SystemdJournalExport(_) => self.number += 1,
            Block::NameResolution(_)
            | Block::DecryptionSecrets(_)
            | Block::ProcessInformation(_)
            | Block::Unknown(_) => {}
        }
    }

    fn interface(&mut self, interface: Interface) {
        if self.interfaces.len() >= MOST_INTERFACES {
            self.warn("more interfaces are described than are remembered".to_owned());
            return;
        }
        if !self.ending.links.contains(&interface.link) {
            self.ending.links.push(interface.link);
        }
        self.interfaces.push(interface);
    }

    fn packet(
        &mut self,
        interface: usize,
        (high, low): (u32, u32),
        wire: u32,
        data: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) {
        let Some(interface) = self.interfaces.get(interface) else {
            self.warn(format!(
                "a packet behind frame {} names an interface that nothing describes",
                self.number
            ));
            return;
        };
        self.number += 1;
        let time = interface.time(high, low);
        each(&Frame { number: self.number, time, link: interface.link, wire: wire as usize, data });
    }

    /// Interface and drops as 16 bits each, then time, lengths and bytes as in today's block.
    fn old_packet(&mut self, body: &[u8], each: &mut impl FnMut(&Frame<'_>)) {
        let big = self.big_endian;
        let word = |at: usize| {
            let bytes: [u8; 4] = *body.get(at..)?.first_chunk()?;
            Some(if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
        };
        let fields = (word(0), word(4), word(8), word(12), word(16));
        let (Some(first), Some(high), Some(low), Some(captured), Some(wire)) = fields else {
            self.warn(format!("an old packet block behind frame {} is too short", self.number));
            return;
        };
        let interface = if big { first >> 16 } else { first & 0xffff };
        let rest = body.get(20..).unwrap_or_default();
        let data = rest.get(..captured as usize).unwrap_or(rest);
        self.packet(interface as usize, (high, low), wire, data, each);
    }
}
