//! The firewalls of the platform: what their rules let through.

use std::net::IpAddr;

use super::line::End;
use super::location::Location;
use super::walk::{Datagram, DropPoint, PathDirection};
use crate::host::fabric::{Fabric, Firewall, FirewallRule};

/// Returns the firewall at an address.
pub(super) fn firewall(fabric: &Fabric, address: IpAddr) -> Option<&Firewall> {
    fabric.firewalls.iter().find(|own| own.address == address)
}

/// Whether a firewall lets a packet through: the first rule that fits decides, and without one none gets through.
pub(super) fn passes(firewall: &Firewall, packet: &Datagram) -> bool {
    packet.answers() || firewall.rules.iter().find(|rule| fits(rule, packet)).is_some_and(|rule| !rule.denies)
}

fn fits(rule: &FirewallRule, packet: &Datagram) -> bool {
    let holds = |list: &[(IpAddr, IpAddr)], own: IpAddr| {
        list.iter().any(|(first, last)| first.is_ipv4() == own.is_ipv4() && (*first..=*last).contains(&own))
    };
    let is_portless = !matches!(packet.protocol, 6 | 17);
    let port = packet.dst.1;
    (rule.protocols.is_empty() || rule.protocols.contains(&packet.protocol))
        && (is_portless || rule.ports.iter().any(|(first, last)| (*first..=*last).contains(&port)))
        && holds(&rule.sources, packet.src.0)
        && holds(&rule.destinations, packet.dst.0)
}

/// Drops a connection of which a firewall sees one direction alone. Whoever is outside answers by the address that it was called from.
pub(super) fn half(
    there: &PathDirection,
    mut back: PathDirection,
    (protocol, end): (u8, End),
) -> PathDirection {
    let is_inside = matches!(there.arrives, Some(Location::Machine { .. }));
    let is_half = there.firewalls.iter().any(|own| !back.firewalls.contains(own))
        || back.firewalls.iter().any(|own| !there.firewalls.contains(own));
    if protocol == 6 && end != End::Silent && is_inside && is_half {
        back.fall = back.fall.or(Some(DropPoint::Between));
    }
    back
}
