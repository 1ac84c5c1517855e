//! One place: an address, a prefix or a name.

use std::net::IpAddr;

use super::name;
use crate::judge::parse_address;

/// A place that something can be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    Address(IpAddr),
    Prefix(Prefix),
    /// In its normal form.
    Name(String),
}

impl Destination {
    /// Reads a place. Addresses are written out: a number alone is a name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_address = |text: &&str| text.contains(['.', ':']);
        if let Some((front, bits)) = text.split_once('/') {
            let address = parse_address(front).filter(|_| is_address(&front))?;
            return Prefix::new(address, bits.parse().ok()?).map(Self::Prefix);
        }
        match parse_address(text).filter(|_| is_address(&text)) {
            Some(address) => Some(Self::Address(address)),
            None => name::normal(text).map(Self::Name),
        }
    }
}

/// Addresses that begin alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefix {
    address: IpAddr,
    bits: u32,
}

impl Prefix {
    fn new(address: IpAddr, bits: u32) -> Option<Self> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        (bits <= most).then_some(Self { address, bits })
    }

    pub(super) fn holds(self, other: IpAddr) -> bool {
        let (one, other, width) = match (self.address, other) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                (u128::from(one.to_bits()), u128::from(other.to_bits()), 32)
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits(), other.to_bits(), 128),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
        };
        (one ^ other).checked_shr(width - self.bits).unwrap_or(0) == 0
    }
}
