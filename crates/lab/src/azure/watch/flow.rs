//! Whether both gates let a packet through.

use std::net::IpAddr;

use serde_json::Value;

use crate::azure::cloud::Cloud;
use crate::azure::effective::{Nic, platform_tag, rules};

/// A packet as it passes an interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet<'a> {
    /// `Inbound` or `Outbound`.
    pub(super) direction: &'a str,
    /// `Tcp`, `Udp`, …
    pub(super) protocol: &'a str,
    /// The source.
    pub(super) from: (IpAddr, u16),
    /// The destination.
    pub(super) to: (IpAddr, u16),
}

/// What becomes of a packet, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// It passes.
    pub(super) allowed: bool,
    /// The rule that says so, or the last one that does.
    pub(super) rule: String,
}

/// Takes a packet through the gates: inbound the subnet's first, outbound the interface's first.
pub(super) fn verdict(cloud: &Cloud, nic: &Nic<'_>, packet: Packet<'_>) -> Verdict {
    let mut gates = rules(cloud, nic);
    if packet.direction.eq_ignore_ascii_case("Outbound") {
        gates.reverse();
    }
    let mut last = Verdict { allowed: true, rule: String::new() };
    for gate in &gates {
        let rules = gate.get("effectiveSecurityRules").and_then(Value::as_array);
        // They are in the order of their priorities.
        let Some(rule) = rules.into_iter().flatten().find(|rule| fits(rule, packet)) else { continue };
        let word = |field: &str| rule.get(field).and_then(Value::as_str).unwrap_or_default();
        last =
            Verdict { allowed: word("access").eq_ignore_ascii_case("Allow"), rule: word("name").to_owned() };
        if !last.allowed {
            break;
        }
    }
    last
}

fn fits(rule: &Value, packet: Packet<'_>) -> bool {
    let word = |field: &str| rule.get(field).and_then(Value::as_str).unwrap_or_default();
    let list = |field: &str| {
        rule.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    };
    let any = |field: &str, address: IpAddr| {
        let whole = format!("{field}es");
        let expanded = format!(
            "expanded{}{}",
            field.get(..1).unwrap_or_default().to_uppercase(),
            field.get(1..).unwrap_or_default()
        );
        let holds = |prefix: &str| prefix == "0.0.0.0/0" || holds(prefix, address).is_some();
        // The platform writes anything as the whole of version 4, and means both. What is expanded is all there is.
        if list(&expanded).next().is_some() { list(&expanded).any(holds) } else { list(&whole).any(holds) }
    };
    let port = |field: &str, port: u16| {
        list(field).any(|range| {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            low.parse::<u16>().is_ok_and(|low| low <= port)
                && high.parse::<u16>().is_ok_and(|high| port <= high)
        })
    };
    let protocol = word("protocol");
    // What a machine sends to the platform itself meets only rules that name the tag of that address.
    let own = platform_tag(packet.to.0).filter(|_| packet.direction.eq_ignore_ascii_case("Outbound"));
    let to = own.map_or_else(
        || any("destinationAddressPrefix", packet.to.0),
        |tag| list("destinationAddressPrefixes").any(|word| word.eq_ignore_ascii_case(tag)),
    );
    word("direction").eq_ignore_ascii_case(packet.direction)
        && (protocol == "All" || protocol.eq_ignore_ascii_case(packet.protocol))
        && any("sourceAddressPrefix", packet.from.0)
        && to
        && port("sourcePortRanges", packet.from.1)
        && port("destinationPortRanges", packet.to.1)
}

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
