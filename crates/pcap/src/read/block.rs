//! Blocks of pcapng: their boundaries, sections, interfaces and packets.

use pcap_parser::{
    OptionCode, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    parse_interfacestatisticsblock_be, parse_interfacestatisticsblock_le,
};

use super::damage::{Damage, Guess};
use super::frame::ByteOrder;
use super::interface::{Interface, number};
use super::reader::{MAX_RECORD_BYTES, Packet, ReadStep, ReaderState};

/// More interfaces than this are not remembered.
const MAX_INTERFACES: usize = 65_536;
/// More link types than this are not listed: nothing real has so many.
const MAX_LINK_TYPES: usize = 64;
/// Where the bytes of a packet begin in its block, and in one that holds nothing else.
const DATA: usize = 28;
const SIMPLE_DATA: usize = 12;

/// A capture of blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    order: ByteOrder,
    /// Those of this section; nothing where a description is damaged.
    interfaces: Vec<Option<Interface>>,
    /// What was dropped in the sections before.
    dropped: u64,
    /// How many interfaces the sections before had.
    before: u32,
}

impl Blocks {
    /// Begins at a section header.
    pub(super) fn new(held: &[u8]) -> Option<Self> {
        Some(Self { order: order_of_section(held)?, interfaces: Vec::new(), dropped: 0, before: 0 })
    }

    /// Returns how many packets the capturing side says it dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.interfaces.iter().flatten().fold(self.dropped, |sum, one| sum.saturating_add(one.dropped))
    }

    /// Examines the next block.
    pub(super) fn step(&mut self, held: &[u8], offset: u64, account: &mut ReaderState) -> ReadStep {
        if account.damage.is_some() {
            let order = self.order;
            return Damage::search(account, held, offset, "block", |bytes| guess(bytes, order));
        }
        let what = match block(held, self.order) {
            Ok(block) => match self.read(&block, account) {
                Ok(step) => return step,
                Err(what) => what,
            },
            Err(Missing::Open) if !account.last => return ReadStep::Wait,
            // What nobody knows, and is longer than the file, is rather no block.
            Err(Missing::Open) if held.len() > 8 && !is_known(self.order.word_at(held, 0)) => {
                "it reaches beyond the end"
            }
            Err(Missing::Open) => return account.cut(held.len()),
            Err(Missing::Damaged(what)) => what,
        };
        // The others keep their numbers.
        if self.order.word_at(held, 0) == Some(INTERFACE) {
            self.describe(None, account);
        }
        Damage::begin(account, offset, what)
    }

    fn read(&mut self, block: &Block<'_>, account: &mut ReaderState) -> Result<ReadStep, &'static str> {
        let packet = match block.kind {
            PACKET | OLD_PACKET => self.packet(block, account),
            SIMPLE => self.simple(block, account),
            _ => None,
        };
        if let Some(packet) = packet {
            return Ok(ReadStep::Packet(packet));
        }
        match block.kind {
            SECTION => {
                self.dropped = self.dropped();
                self.before = self.before.saturating_add(self.interfaces.len() as u32);
                self.interfaces.clear();
                self.order = block.order;
            }
            INTERFACE => {
                let parsed = match block.order {
                    ByteOrder::Little => parse_interfacedescriptionblock_le(block.bytes),
                    ByteOrder::Big => parse_interfacedescriptionblock_be(block.bytes),
                };
                let (_, description) = parsed.map_err(|_| "its description cannot be read")?;
                self.describe(Some(Interface::new(&description, block.order)), account);
            }
            STATISTICS => self.count(block)?,
            // Other readers show these as frames of their own: the numbers have to agree.
            CUSTOM | CUSTOM_KEPT | JOURNAL => account.number += 1,
            _ => {}
        }
        Ok(ReadStep::Skip(block.bytes.len()))
    }

    fn describe(&mut self, interface: Option<Interface>, account: &mut ReaderState) {
        if self.interfaces.len() >= MAX_INTERFACES {
            account.warn("more interfaces are described than are remembered".to_owned());
            return;
        }
        if let Some(link) = interface.map(|interface| interface.link)
            && account.ending.links.len() < MAX_LINK_TYPES
            && !account.ending.links.contains(&link)
        {
            account.ending.links.push(link);
        }
        self.interfaces.push(interface);
    }

    /// Takes over what an interface dropped: each block tells it from the beginning on.
    fn count(&mut self, block: &Block<'_>) -> Result<(), &'static str> {
        let parsed = match block.order {
            ByteOrder::Little => parse_interfacestatisticsblock_le(block.bytes),
            ByteOrder::Big => parse_interfacestatisticsblock_be(block.bytes),
        };
        let (_, statistics) = parsed.map_err(|_| "its statistics cannot be read")?;
        let dropped = [OptionCode::IsbIfDrop, OptionCode::IsbOsDrop]
            .into_iter()
            .filter_map(|code| number(&statistics.options, code, block.order))
            // All ones stand for a number that is not known.
            .filter(|count| *count != u64::MAX)
            .fold(0, u64::saturating_add);
        if let Some(Some(interface)) = self.interfaces.get_mut(statistics.if_id as usize) {
            interface.dropped = interface.dropped.max(dropped);
        }
        Ok(())
    }

    /// A packet: interface, time in two halves, what was captured, what there was. The obsolete block has the same places.
    fn packet(&self, block: &Block<'_>, account: &mut ReaderState) -> Option<Packet> {
        let fields: &[u8; DATA] = block.bytes.first_chunk()?;
        let word = |place| block.order.word_at(fields, place);
        let name = if block.kind == OLD_PACKET {
            usize::from(block.order.half(*fields.get(8..)?.first_chunk()?))
        } else {
            word(8)? as usize
        };
        let interface = self.interface(name, account)?;
        let (time, odd) = interface.time(word(12)?, word(16)?);
        account.odd_times += u64::from(odd);
        let (captured, wire) = (word(20)? as usize, word(24)? as usize);
        let whole = block.bytes.len();
        let number = self.before.saturating_add(name as u32);
        Some(Packet {
            time,
            interface: number,
            link: interface.link,
            wire,
            from: DATA,
            to: DATA + captured,
            whole,
        })
    }

    /// A packet without a time, of the first interface.
    fn simple(&self, block: &Block<'_>, account: &mut ReaderState) -> Option<Packet> {
        let interface = self.interface(0, account)?;
        let wire = block.order.word_at(block.bytes, 8)? as usize;
        let whole = block.bytes.len();
        let to = SIMPLE_DATA + wire.min(interface.snap).min(whole - SIMPLE_DATA - 4);
        account.timeless += 1;
        let (time, link) = (interface.time(0, 0).0, interface.link);
        Some(Packet { time, interface: self.before, link, wire, from: SIMPLE_DATA, to, whole })
    }

    fn interface(&self, name: usize, account: &mut ReaderState) -> Option<&Interface> {
        let found = self.interfaces.get(name).and_then(Option::as_ref);
        if found.is_none() {
            let number = account.number;
            account.warn(format!("a packet behind frame {number} names an interface that nothing describes"));
        }
        found
    }
}

/// The longest block that is taken for one behind a damaged place.
const MAX_GUESSED_BLOCK_BYTES: usize = 1024 * 1024;
/// More than this around the bytes of a packet is no set of options.
const MAX_OPTION_BYTES: usize = 256 * 1024;
/// What is around the bytes of a packet.
const AROUND_PACKET: usize = 32;

/// The header of a section. It reads the same in both byte orders.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
/// The description of an interface.
pub(super) const INTERFACE: u32 = 1;
/// The obsolete block of a packet.
pub(super) const OLD_PACKET: u32 = 2;
/// A packet and nothing else.
pub(super) const SIMPLE: u32 = 3;
const NAMES: u32 = 4;
/// What an interface counted.
pub(super) const STATISTICS: u32 = 5;
pub(super) const PACKET: u32 = 6;
/// An entry of a journal.
pub(super) const JOURNAL: u32 = 9;
const SECRETS: u32 = 10;
/// Somebody's own, that may be copied or not.
pub(super) const CUSTOM: u32 = 0x0bad;
pub(super) const CUSTOM_KEPT: u32 = 0x4000_0bad;

/// A whole block.
pub(super) struct Block<'a> {
    pub(super) kind: u32,
    pub(super) order: ByteOrder,
    /// All of it, from its type to its second length.
    pub(super) bytes: &'a [u8],
}

/// Why there is no block.
pub(super) enum Missing {
    /// More bytes are needed.
    Open,
    /// Something about it cannot be.
    Damaged(&'static str),
}

/// Returns the byte order of a section from its header.
pub(super) fn order_of_section(held: &[u8]) -> Option<ByteOrder> {
    match held.get(8..12)? {
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(ByteOrder::Little),
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(ByteOrder::Big),
        _ => None,
    }
}

/// Returns the block that begins here.
pub(super) fn block(held: &[u8], order: ByteOrder) -> Result<Block<'_>, Missing> {
    let head: &[u8; 12] = held.first_chunk().ok_or(Missing::Open)?;
    let kind = order.word_at(head, 0).unwrap_or_default();
    let order = if kind == SECTION {
        order_of_section(head).ok_or(Missing::Damaged("its byte order is none"))?
    } else {
        order
    };
    let length = order.word_at(head, 4).unwrap_or_default() as usize;
    if length < min_length(kind) {
        return Err(Missing::Damaged("it is too short for its kind"));
    }
    if length > MAX_RECORD_BYTES {
        return Err(Missing::Damaged("it claims to be larger than any block is"));
    }
    if matches!(kind, PACKET | OLD_PACKET) {
        let captured = order.word_at(held, 20).ok_or(Missing::Open)? as usize;
        let rest = length - AROUND_PACKET;
        if captured > rest || rest - captured > MAX_OPTION_BYTES {
            return Err(Missing::Damaged("its length and that of its packet do not go together"));
        }
    }
    let bytes = held.get(..length).ok_or(Missing::Open)?;
    if order.word_at(bytes, length - 4) != Some(length as u32) {
        return Err(Missing::Damaged("its two lengths differ"));
    }
    Ok(Block { kind, order, bytes })
}

/// How short a block of a kind can be.
fn min_length(kind: u32) -> usize {
    match kind {
        SECTION => 28,
        INTERFACE => 20,
        PACKET | OLD_PACKET => AROUND_PACKET,
        SIMPLE => 16,
        STATISTICS => 24,
        _ => 12,
    }
}

/// Tells whether blocks of this kind are usual.
pub(super) fn is_known(kind: Option<u32>) -> bool {
    let known = [
        SECTION,
        INTERFACE,
        OLD_PACKET,
        SIMPLE,
        NAMES,
        STATISTICS,
        PACKET,
        JOURNAL,
        SECRETS,
        CUSTOM,
        CUSTOM_KEPT,
    ];
    kind.is_some_and(|kind| known.contains(&kind))
}

/// Tells whether a block begins here: one of a known kind, of some usual size, whose two lengths agree.
pub(super) fn guess(held: &[u8], order: ByteOrder) -> Guess {
    let (Some(kind), Some(length)) = (order.word_at(held, 0), held.get(4..8)) else {
        return Guess::Open;
    };
    if !is_known(Some(kind)) {
        return Guess::No;
    }
    let order = match (kind, held.get(8..12)) {
        (SECTION, None) => return Guess::Open,
        (SECTION, Some(_)) => match order_of_section(held) {
            Some(order) => order,
            None => return Guess::No,
        },
        _ => order,
    };
    let length = order.word_at(length, 0).unwrap_or_default() as usize;
    if length > MAX_GUESSED_BLOCK_BYTES || !length.is_multiple_of(4) {
        return Guess::No;
    }
    match block(held, order) {
        Ok(_) => Guess::Yes,
        Err(Missing::Open) => Guess::Open,
        Err(Missing::Damaged(_)) => Guess::No,
    }
}
