//! Display filters that anybody can paste into Wireshark, and words for numbers.

use std::net::IpAddr;

/// Returns the name of a field of the address's family: `ip.src`, `ipv6.dst`.
pub(super) fn field(address: IpAddr, side: &str) -> String {
    format!("{}.{side}", if address.is_ipv4() { "ip" } else { "ipv6" })
}

/// Returns how often, in words.
pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}
