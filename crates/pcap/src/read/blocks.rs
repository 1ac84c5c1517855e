//! pcapng: sections of blocks. Packets are read in place; descriptions and statistics are few, and the parser takes them apart.

use pcap_parser::{
    OptionCode, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    parse_interfacestatisticsblock_be, parse_interfacestatisticsblock_le,
};

use super::block::{
    Block, CUSTOM, CUSTOM_KEPT, INTERFACE, JOURNAL, Missing, OLD_PACKET, PACKET, SECTION, SIMPLE, STATISTICS,
    block, guess, is_known, order_of_section,
};
use super::damage::Damage;
use super::interface::{Interface, number};
use super::order::Order;
use super::reader::{Account, Packet, Step};

/// More interfaces than this are not remembered.
const MOST_INTERFACES: usize = 65_536;
/// More link types than this are not listed: nothing real has so many.
const MOST_LINKS: usize = 64;
/// Where the bytes of a packet begin in its block, and in one that holds nothing else.
const DATA: usize = 28;
const SIMPLE_DATA: usize = 12;

/// A capture of blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    order: Order,
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

    /// Looks at the next block.
    pub(super) fn step(&mut self, held: &[u8], offset: u64, account: &mut Account) -> Step {
        if account.damage.is_some() {
            let order = self.order;
            return Damage::search(account, held, offset, "block", |bytes| guess(bytes, order));
        }
        let what = match block(held, self.order) {
            Ok(block) => match self.read(&block, account) {
                Ok(step) => return step,
                Err(what) => what,
            },
            Err(Missing::Open) if !account.last => return Step::Wait,
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

    fn read(&mut self, block: &Block<'_>, account: &mut Account) -> Result<Step, &'static str> {
        let packet = match block.kind {
            PACKET | OLD_PACKET => self.packet(block, account),
            SIMPLE => self.simple(block, account),
            _ => None,
        };
        if let Some(packet) = packet {
            return Ok(Step::Packet(packet));
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
                    Order::Little => parse_interfacedescriptionblock_le(block.bytes),
                    Order::Big => parse_interfacedescriptionblock_be(block.bytes),
                };
                let (_, description) = parsed.map_err(|_| "its description cannot be read")?;
                self.describe(Some(Interface::new(&description, block.order)), account);
            }
            STATISTICS => self.count(block)?,
            // Other readers show these as frames of their own: the numbers have to agree.
            CUSTOM | CUSTOM_KEPT | JOURNAL => account.number += 1,
            _ => {}
        }
        Ok(Step::Skip(block.bytes.len()))
    }

    fn describe(&mut self, interface: Option<Interface>, account: &mut Account) {
        if self.interfaces.len() >= MOST_INTERFACES {
            account.warn("more interfaces are described than are remembered".to_owned());
            return;
        }
        if let Some(link) = interface.map(|interface| interface.link)
            && account.ending.links.len() < MOST_LINKS
            && !account.ending.links.contains(&link)
        {
            account.ending.links.push(link);
        }
        self.interfaces.push(interface);
    }

    /// Takes over what an interface dropped: each block tells it from the beginning on.
    fn count(&mut self, block: &Block<'_>) -> Result<(), &'static str> {
        let parsed = match block.order {
            Order::Little => parse_interfacestatisticsblock_le(block.bytes),
            Order::Big => parse_interfacestatisticsblock_be(block.bytes),
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
    fn packet(&self, block: &Block<'_>, account: &mut Account) -> Option<Packet> {
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
    fn simple(&self, block: &Block<'_>, account: &mut Account) -> Option<Packet> {
        let interface = self.interface(0, account)?;
        let wire = block.order.word_at(block.bytes, 8)? as usize;
        let whole = block.bytes.len();
        let to = SIMPLE_DATA + wire.min(interface.snap).min(whole - SIMPLE_DATA - 4);
        account.timeless += 1;
        let (time, link) = (interface.time(0, 0).0, interface.link);
        Some(Packet { time, interface: self.before, link, wire, from: SIMPLE_DATA, to, whole })
    }

    fn interface(&self, name: usize, account: &mut Account) -> Option<&Interface> {
        let found = self.interfaces.get(name).and_then(Option::as_ref);
        if found.is_none() {
            let number = account.number;
            account.warn(format!("a packet behind frame {number} names an interface that nothing describes"));
        }
        found
    }
}
