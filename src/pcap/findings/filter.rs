//! Display filters that anybody can paste into Wireshark.

use std::net::IpAddr;

/// Returns the name of a field of the address's family: `ip.src`, `ipv6.dst`.
pub(super) fn field(address: IpAddr, side: &str) -> String {
    format!("{}.{side}", if address.is_ipv4() { "ip" } else { "ipv6" })
}
