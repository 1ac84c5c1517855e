//! Addresses and the prefixes that hold them.

use std::net::IpAddr;

/// Tells whether a prefix holds an address, and how long it is.
pub(super) fn holds(prefix: &str, address: IpAddr) -> Option<u32> {
    let (network, length) = match prefix.split_once('/') {
        Some((network, length)) => (network.parse::<IpAddr>().ok()?, length.parse::<u32>().ok()?),
        None => {
            let network = prefix.parse::<IpAddr>().ok()?;
            (network, if network.is_ipv4() { 32 } else { 128 })
        }
    };
    let (network, address, bits) = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (u128::from(u32::from(network)) << 96, u128::from(u32::from(address)) << 96, 32)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => (u128::from(network), u128::from(address), 128),
        _ => return None,
    };
    if length > bits {
        return None;
    }
    let mask = if length == 0 { 0 } else { u128::MAX << (128 - length) };
    (network & mask == address & mask).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_holds_what_it_holds() {
        let address = "10.0.1.5".parse().unwrap();
        assert_eq!(holds("10.0.0.0/16", address), Some(16));
        assert_eq!(holds("10.0.1.5", address), Some(32));
        assert_eq!(holds("0.0.0.0/0", address), Some(0));
        assert_eq!(holds("10.1.0.0/16", address), None);
        assert_eq!(holds("::/0", address), None);
        assert_eq!(holds("10.0.0.0/99", address), None);
        assert_eq!(holds("Storage", address), None);
    }
}
