//! Prefixes of IPv4, as tables and rules write them.

use std::fmt;
use std::net::Ipv4Addr;

/// A prefix; its host bits are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Prefix {
    base: u32,
    length: u32,
}

impl Prefix {
    pub(super) const ALL: Self = Self { base: 0, length: 0 };

    /// Cuts the host bits off.
    pub(super) fn new(address: Ipv4Addr, length: u32) -> Self {
        let length = length.min(32);
        Self { base: u32::from(address) & mask(length), length }
    }

    /// One address alone.
    pub(super) fn host(address: Ipv4Addr) -> Self {
        Self::new(address, 32)
    }

    /// Reads what this module writes; everything else is the whole space.
    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        let (address, length) = text.split_once('/').unwrap_or((text, "32"));
        Self::new(address.parse().unwrap(), length.parse().unwrap())
    }

    pub(super) const fn length(self) -> u32 {
        self.length
    }

    pub(super) fn holds(self, address: Ipv4Addr) -> bool {
        u32::from(address) & mask(self.length) == self.base
    }

    /// Returns the address so many behind the first.
    pub(super) fn at(self, place: u32) -> Ipv4Addr {
        Ipv4Addr::from(self.base.wrapping_add(place))
    }
}

const fn mask(length: u32) -> u32 {
    if length == 0 { 0 } else { u32::MAX << (32 - length) }
}

impl fmt::Display for Prefix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", Ipv4Addr::from(self.base), self.length)
    }
}

/// A range of ports, both ends included.
pub(super) type Range = (u16, u16);

/// Writes a range as rules of a cloud and objects do.
pub(super) fn range(range: Range) -> String {
    if range.0 == range.1 { range.0.to_string() } else { format!("{}-{}", range.0, range.1) }
}

pub(super) fn in_range(range: Range, port: u16) -> bool {
    (range.0..=range.1).contains(&port)
}
