//! The interfaces of a pcapng section, and how their clocks tick.

use pcap_parser::{InterfaceDescriptionBlock, OptionCode, PcapNGOption};

use super::frame::ByteOrder;

const SECOND: i128 = 1_000_000_000;

/// One interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interface {
    /// Its link type.
    pub(super) link: u16,
    /// The most that it captures of a packet, where it says so.
    pub(super) snap: usize,
    /// Packets that it dropped up to now.
    pub(super) dropped: u64,
    clock: Clock,
    offset: i64,
}

/// How many ticks a second has.
#[derive(Debug, Clone, Copy)]
enum Clock {
    Micros,
    Nanos,
    PerSecond(i128),
    /// How many that what fits into a timestamp is less than a nanosecond.
    Still,
}

impl Interface {
    /// Reads a description. The parser takes numbers in options for little-endian whatever the section says; they are read here.
    pub(super) fn new(block: &InterfaceDescriptionBlock<'_>, order: ByteOrder) -> Self {
        let offset = number(&block.options, OptionCode::IfTsoffset, order);
        let resolution = block.options.iter().find(|option| option.code == OptionCode::IfTsresol);
        let resolution = resolution.and_then(|option| option.as_bytes().ok()?.first().copied());
        Self {
            link: u16::try_from(block.linktype.0).unwrap_or(u16::MAX),
            snap: if block.snaplen == 0 { usize::MAX } else { block.snaplen as usize },
            dropped: 0,
            clock: resolution.map_or(Clock::Micros, clock),
            offset: offset.map_or(0, u64::cast_signed),
        }
    }

    /// Turns a timestamp into nanoseconds since 1970; what lies before, or beyond what can be expressed, becomes the nearest, and is odd.
    pub(super) fn time(&self, high: u32, low: u32) -> (u64, bool) {
        let ticks = (u64::from(high) << 32) | u64::from(low);
        if let (0, Clock::Micros) = (self.offset, self.clock)
            && let Some(time) = ticks.checked_mul(1000)
        {
            return (time, false);
        }
        let nanos = match self.clock {
            Clock::Micros => i128::from(ticks) * 1000,
            Clock::Nanos => i128::from(ticks),
            Clock::PerSecond(per_second) => i128::from(ticks) * SECOND / per_second,
            Clock::Still => 0,
        };
        let time = nanos + i128::from(self.offset) * SECOND;
        let clamped = u64::try_from(time.clamp(0, i128::from(u64::MAX))).unwrap_or(u64::MAX);
        (clamped, i128::from(clamped) != time)
    }
}

/// Reads how a clock ticks: a power of ten, or of two where the first bit says so.
fn clock(resolution: u8) -> Clock {
    let exponent = u32::from(resolution & 0x7f);
    let per_second = match resolution {
        6 => return Clock::Micros,
        9 => return Clock::Nanos,
        0..0x80 => 10_i128.checked_pow(exponent),
        0x80.. => 2_i128.checked_pow(exponent),
    };
    per_second.map_or(Clock::Still, Clock::PerSecond)
}

/// Returns the number of eight bytes that an option holds.
pub(super) fn number(options: &[PcapNGOption<'_>], code: OptionCode, order: ByteOrder) -> Option<u64> {
    let option = options.iter().find(|option| option.code == code)?;
    Some(order.double(*option.as_bytes().ok()?.first_chunk()?))
}
