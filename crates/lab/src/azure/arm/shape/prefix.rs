//! Prefixes, addresses and ports as people write them.

use std::net::IpAddr;

use ipnet::IpNet;

/// Reads a prefix, or an address alone.
pub(super) fn prefix(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Says whether a text may be the name of a service tag.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Says whether a text is a port, a range of ports, or any.
pub(super) fn is_ports(text: &str) -> bool {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    text == "*" || matches!((low.parse::<u16>(), high.parse::<u16>()), (Ok(low), Ok(high)) if low <= high)
}
