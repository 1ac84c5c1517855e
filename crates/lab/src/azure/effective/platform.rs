//! The platform's own addresses, which every machine reaches through its host.

use std::net::IpAddr;

/// The tag by which a rule means an address, and the address: names and health, and what a machine asks about itself.
const ADDRESSES: [(&str, &str); 2] =
    [("AzurePlatformDNS", "168.63.129.16"), ("AzurePlatformIMDS", "169.254.169.254")];

/// Returns the tag of an address; nothing where it is none of the platform's own.
///
/// No route of a table or a gateway carries a packet there, and no rule stops one on the outbound path that does not name this tag.
pub(in crate::azure) fn platform_tag(address: IpAddr) -> Option<&'static str> {
    let address = address.to_canonical().to_string();
    ADDRESSES.iter().find(|(_, own)| *own == address).map(|(tag, _)| *tag)
}

/// Returns the prefixes of all of them.
pub(super) fn prefixes() -> impl Iterator<Item = String> {
    ADDRESSES.iter().map(|(_, address)| format!("{address}/32"))
}

/// Returns the prefix of one tag.
pub(super) fn prefix(tag: &str) -> Option<String> {
    ADDRESSES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(tag))
        .map(|(_, address)| format!("{address}/32"))
}
