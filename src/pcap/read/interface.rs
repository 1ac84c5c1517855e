//! The interfaces of a pcapng section, and how their clocks tick.

use pcap_parser::InterfaceDescriptionBlock;

const SECOND: u128 = 1_000_000_000;

/// One interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interface {
    /// Its link type.
    pub(super) link: u16,
    /// The most that it captures of a packet, where it says so.
    pub(super) snap: usize,
    ticks: u64,
    offset: i64,
}

impl Interface {
    /// Reads a description.
    pub(super) fn new(block: &InterfaceDescriptionBlock<'_>) -> Self {
        Self {
            link: u16::try_from(block.linktype.0).unwrap_or(u16::MAX),
            snap: if block.snaplen == 0 { usize::MAX } else { block.snaplen as usize },
            ticks: ticks(block.if_tsresol).unwrap_or(1_000_000),
            offset: block.ts_offset(),
        }
    }

    /// Turns a timestamp into nanoseconds since 1970.
    pub(super) fn time(&self, high: u32, low: u32) -> u64 {
        let ticks = (u64::from(high) << 32) | u64::from(low);
        let nanos = match self.ticks {
            1_000_000 => ticks.wrapping_mul(1000),
            1_000_000_000 => ticks,
            per_second => (u128::from(ticks) * SECOND / u128::from(per_second)) as u64,
        };
        nanos.wrapping_add_signed(self.offset.wrapping_mul(1_000_000_000))
    }
}

/// Returns how many ticks a second has: a power of ten, or of two where the first bit says so.
fn ticks(resolution: u8) -> Option<u64> {
    let exponent = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) }
}
