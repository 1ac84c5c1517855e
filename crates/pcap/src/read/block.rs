//! Where a block of pcapng begins and ends, and whether it can be one.

use super::damage::Guess;
use super::order::Order;
use super::reader::LARGEST;

/// The longest block that is taken for one behind a damaged place.
const LONGEST_GUESS: usize = 1024 * 1024;
/// More than this around the bytes of a packet is no set of options.
const MOST_OPTIONS: usize = 256 * 1024;
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
/// A packet.
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
    pub(super) order: Order,
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
pub(super) fn order_of_section(held: &[u8]) -> Option<Order> {
    match held.get(8..12)? {
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(Order::Little),
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(Order::Big),
        _ => None,
    }
}

/// Returns the block that begins here.
pub(super) fn block(held: &[u8], order: Order) -> Result<Block<'_>, Missing> {
    let head: &[u8; 12] = held.first_chunk().ok_or(Missing::Open)?;
    let kind = order.word_at(head, 0).unwrap_or_default();
    let order = if kind == SECTION {
        order_of_section(head).ok_or(Missing::Damaged("its byte order is none"))?
    } else {
        order
    };
    let length = order.word_at(head, 4).unwrap_or_default() as usize;
    if length < least(kind) {
        return Err(Missing::Damaged("it is too short for its kind"));
    }
    if length > LARGEST {
        return Err(Missing::Damaged("it claims to be larger than any block is"));
    }
    if matches!(kind, PACKET | OLD_PACKET) {
        let captured = order.word_at(held, 20).ok_or(Missing::Open)? as usize;
        let rest = length - AROUND_PACKET;
        if captured > rest || rest - captured > MOST_OPTIONS {
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
fn least(kind: u32) -> usize {
    match kind {
        SECTION => 28,
        INTERFACE => 20,
        PACKET | OLD_PACKET => AROUND_PACKET,
        SIMPLE => 16,
        STATISTICS => 24,
        _ => 12,
    }
}

/// Says whether blocks of this kind are usual.
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

/// Says whether a block begins here: one of a known kind, of some usual size, whose two lengths agree.
pub(super) fn guess(held: &[u8], order: Order) -> Guess {
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
    if length > LONGEST_GUESS || !length.is_multiple_of(4) {
        return Guess::No;
    }
    match block(held, order) {
        Ok(_) => Guess::Yes,
        Err(Missing::Open) => Guess::Open,
        Err(Missing::Damaged(_)) => Guess::No,
    }
}
