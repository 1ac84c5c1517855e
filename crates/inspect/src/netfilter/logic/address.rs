//! Addresses, prefixes and masks as numbers.

use std::net::IpAddr;

use super::span::Spans;
use super::test::{Field, Test};

/// Returns an address as a number, and 4 or 6.
pub(in crate::netfilter) fn number(address: IpAddr) -> (u128, u128) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 4),
        IpAddr::V6(address) => (u128::from(address), 6),
    }
}

fn width(family: u128) -> u32 {
    if family == 4 { 32 } else { 128 }
}

/// Reads an address, a prefix, or an address with a mask: the test, and the family.
pub(super) fn test(field: Field, text: &str) -> Option<(Test, u128)> {
    let (address, mask) = match text.split_once('/') {
        Some((address, mask)) => (address, Some(mask)),
        None => (text, None),
    };
    let (address, family) = number(address.parse().ok()?);
    let Some(mask) = mask else { return Some((Test::one(field, address), family)) };
    if let Ok(length) = mask.parse::<u32>() {
        return Some((Test::Is(field, prefix(address, family, length)?), family));
    }
    let (mask, of) = number(mask.parse().ok()?);
    let all = mask_of(family, width(family));
    if of != family {
        return None;
    }
    let ones = (mask << (128 - width(family))).leading_ones();
    if mask_of(family, ones) == mask {
        return Some((Test::Is(field, prefix(address, family, ones)?), family));
    }
    // Holes in a mask: not a run, but still exact for a known address.
    Some((Test::masked(field, mask & all, Spans::one(address & mask)), family))
}

/// Returns the addresses of a prefix.
pub(in crate::netfilter) fn prefix(address: u128, family: u128, length: u32) -> Option<Spans> {
    if length > width(family) {
        return None;
    }
    let mask = mask_of(family, length);
    let all = mask_of(family, width(family));
    Some(Spans::run(address & mask, (address & mask) | (all & !mask)))
}

fn mask_of(family: u128, length: u32) -> u128 {
    let width = width(family);
    let all = u128::MAX.checked_shr(128 - width).unwrap_or(0);
    let low = all.checked_shr(length).unwrap_or(0);
    all & !low
}
