//! What the security groups of an interface do to a packet: a judge of its own, written from the platform's documentation.

use std::net::Ipv4Addr;

use super::address::{Prefix, in_range};
use super::estate::{Estate, GroupRule, Hop, Machine, Place};
use super::guest::{Packet, Stop};
use crate::case::model::Pair;
use crate::host::Protocol;

/// Tells whether the network of a subnet or one that is connected with it holds an address.
fn is_inside(estate: &Estate, subnet: &str, address: Ipv4Addr) -> bool {
    let network = estate.subnet(subnet).and_then(|own| estate.network(own.network()));
    let peers = network.into_iter().flat_map(|network| &network.peerings);
    let is_open = |name: &str| network.is_some_and(|own| !estate.keeps_out(&own.name, name));
    let peers = peers
        .filter(|(name, state)| *state == "Connected" && is_open(name))
        .filter_map(|(name, _)| estate.network(name));
    network.into_iter().chain(peers).any(|network| network.prefix.holds(address))
}

/// What the name of the network means at a subnet: its space, that of connected peers, and whatever its table sends elsewhere.
fn in_network(estate: &Estate, subnet: &str, address: Ipv4Addr) -> bool {
    let platform = [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(169, 254, 169, 254)];
    let Some(own) = estate.subnet(subnet) else { return false };
    let routes = own.table.as_ref().and_then(|table| estate.tables.get(table)).into_iter().flatten();
    let sent = routes.filter(|route| matches!(route.hop, Hop::Appliance(_) | Hop::Gateway));
    let is_sent = sent.map(|route| route.prefix).any(|prefix| prefix.holds(address));
    platform.contains(&address) || is_sent || is_inside(estate, subnet, address)
}

/// Addresses that nobody reaches from outside.
fn is_private(address: Ipv4Addr) -> bool {
    address.is_private() || Prefix::new(Ipv4Addr::new(100, 64, 0, 0), 10).holds(address)
}

fn is_at(estate: &Estate, subnet: &str, place: &Place, address: Ipv4Addr) -> bool {
    match place {
        Place::Any => true,
        Place::Of(prefix) => prefix.holds(address),
        Place::VirtualNetwork => in_network(estate, subnet, address),
        Place::Internet => !is_inside(estate, subnet, address) && !is_private(address),
        Place::LoadBalancer => address == Ipv4Addr::new(168, 63, 129, 16),
        Place::Interfaces(group) => {
            estate.owner(address).is_some_and(|machine| machine.interface_group.as_ref() == Some(group))
        }
    }
}

fn takes(estate: &Estate, subnet: &str, rule: &GroupRule, packet: &Packet) -> bool {
    let ported = packet.protocol != Protocol::Icmp;
    rule.protocol.is_none_or(|protocol| protocol == packet.protocol)
        && is_at(estate, subnet, &rule.source, packet.source)
        && is_at(estate, subnet, &rule.destination, packet.destination)
        && (rule.ports.is_empty()
            || ported && rule.ports.iter().any(|range| in_range(*range, packet.destination_port)))
}

/// The rules that every group ends with.
fn defaults(inbound: bool) -> Vec<GroupRule> {
    let rule = |name: &str, priority, allows, source, destination| GroupRule {
        name: name.to_owned(),
        priority,
        inbound,
        allows,
        protocol: None,
        source,
        destination,
        ports: Vec::new(),
    };
    if inbound {
        vec![
            rule("AllowVnetInBound", 65_000, true, Place::VirtualNetwork, Place::VirtualNetwork),
            rule("AllowAzureLoadBalancerInBound", 65_001, true, Place::LoadBalancer, Place::Any),
            rule("DenyAllInBound", 65_500, false, Place::Any, Place::Any),
        ]
    } else {
        vec![
            rule("AllowVnetOutBound", 65_000, true, Place::VirtualNetwork, Place::VirtualNetwork),
            rule("AllowInternetOutBound", 65_001, true, Place::Any, Place::Internet),
            rule("DenyAllOutBound", 65_500, false, Place::Any, Place::Any),
        ]
    }
}

fn closes_everything(rule: &GroupRule) -> bool {
    rule.protocol.is_none()
        && rule.source == Place::Any
        && rule.destination == Place::Any
        && rule.ports.is_empty()
}

/// Everything in the groups of a machine that stops a packet, gate by gate, each asked as if what stands before it were gone.
pub(super) fn stops(estate: &Estate, machine: &Machine, inbound: bool, packet: &Packet) -> Vec<Stop> {
    estate
        .groups_of(machine)
        .into_iter()
        .flatten()
        .flat_map(|group| gate(estate, machine, &group, inbound, packet))
        .collect()
}

/// The peering that keeps the network of an address from that of a machine.
fn kept_out(estate: &Estate, machine: &Machine, other: Ipv4Addr) -> Option<Pair> {
    let own = estate.subnet(&machine.subnet)?.network();
    let other = &estate.holding(other)?.name;
    let object = format!("peering/{own}/{own}-to-{other}");
    estate.keeps_out(own, other).then(|| Pair::new("peering_access_off", object))
}

fn gate(estate: &Estate, machine: &Machine, group: &str, inbound: bool, packet: &Packet) -> Vec<Stop> {
    let own = estate.groups.get(group).into_iter().flatten().filter(|rule| rule.inbound == inbound);
    let mut rules: Vec<GroupRule> = own.cloned().chain(defaults(inbound)).collect();
    rules.sort_by_key(|rule| rule.priority);
    let mut found = Vec::new();
    let mut closed = false;
    for rule in rules.iter().filter(|rule| takes(estate, &machine.subnet, rule, packet)) {
        if rule.allows {
            break;
        }
        let is_catch_all = closes_everything(rule);
        let other = if inbound { packet.source } else { packet.destination };
        let peering = kept_out(estate, machine, other).filter(|_| rule.priority == 65_500);
        found.push(Stop {
            pair: peering.unwrap_or_else(|| Pair::new("nsg_deny", format!("nsg/{group}/{}", rule.name))),
            is_partial: false,
            is_behind_catch_all: is_catch_all && closed,
        });
        closed |= is_catch_all;
    }
    found
}

/// The rules that let the whole Internet in to one of some ports of a machine, where every group before it lets it in: those that say
/// so. A rule for the network, where a table makes that everything, is another thing.
pub(super) fn exposures(estate: &Estate, machine: &Machine, ports: &[u16]) -> Vec<Pair> {
    // An address that stands for everybody outside.
    let source = Ipv4Addr::new(203, 0, 113, 200);
    let mut found = Vec::new();
    for port in ports {
        let packet = Packet {
            source,
            destination: machine.address,
            protocol: Protocol::Tcp,
            source_port: 40_000,
            destination_port: *port,
            state: super::guest::State::New,
        };
        let groups: Vec<String> = estate.groups_of(machine).into_iter().flatten().collect();
        let deciding: Vec<Option<(String, GroupRule)>> =
            groups.iter().map(|group| first(estate, machine, group, &packet)).collect();
        if deciding.iter().all(|rule| rule.as_ref().is_some_and(|(_, rule)| rule.allows)) {
            found.extend(
                deciding
                    .into_iter()
                    .flatten()
                    .filter(|(_, rule)| {
                        rule.priority < 65_000 && matches!(rule.source, Place::Any | Place::Internet)
                    })
                    .map(|(group, rule)| Pair::new("nsg_exposure", format!("nsg/{group}/{}", rule.name))),
            );
        }
    }
    found
}

fn first(estate: &Estate, machine: &Machine, group: &str, packet: &Packet) -> Option<(String, GroupRule)> {
    let own = estate.groups.get(group).into_iter().flatten().filter(|rule| rule.inbound);
    let mut rules: Vec<GroupRule> = own.cloned().chain(defaults(true)).collect();
    rules.sort_by_key(|rule| rule.priority);
    let rule = rules.into_iter().find(|rule| takes(estate, &machine.subnet, rule, packet))?;
    Some((group.to_owned(), rule))
}
