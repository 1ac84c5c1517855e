//! The platform's rules and routes, asked about one packet.

use std::net::IpAddr;

use super::walk::{Datagram, DropPoint, DropResponse};
use crate::host::fabric::{Fabric, Nic};
use crate::host::simulated::guest::PacketVerdict;
use crate::host::simulated::world::World;
use ghost_inspect::net::Tags;
use ghost_inspect::netfilter::{Hook, Packet, State};
use ghost_inspect::{nsg, route};

/// Where the platform takes a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// To whoever has the address, in this network or a peered one.
    Straight {
        /// Whether it is a peered one.
        peered: bool,
    },
    /// Out of all networks, or to a service.
    ExternalHost,
    Appliance(IpAddr),
    /// To the gateway that the interface uses.
    Gateway,
    Nowhere,
}

/// Whether the rules of an interface let a packet through; where there are no rules at all, they do.
pub(super) fn lets(
    fabric: &Fabric,
    nic: &Nic,
    direction: &str,
    protocol: u8,
    from: (IpAddr, u16),
    to: (IpAddr, u16),
) -> bool {
    let word = match protocol {
        6 => "tcp",
        17 => "udp",
        _ => "icmp",
    };
    if nic.rules.is_null() {
        return true;
    }
    let tags = tags(fabric);
    let knowledge = nsg::Knowledge { tags: tags.as_ref(), inventory: None };
    // Rules that nobody can read let nothing through.
    let Ok(rules) = nsg::Ruleset::parse(&nic.rules.to_string(), knowledge) else { return false };
    let port = if word == "icmp" { 0 } else { to.1 };
    let source = (word != "icmp").then_some(from.1);
    let Ok(packet) = nsg::Packet::new(direction, word, from.0, source, to.0, port) else { return false };
    rules.verdict(&packet).verdict != nsg::Verdict::Deny
}

/// Whether nothing is known about the routes of an interface; then whatever is known can be reached.
pub(super) fn unrouted(nic: &Nic) -> bool {
    let rows = nic.routes.get("value").unwrap_or(&nic.routes);
    rows.is_null() || rows.as_array().is_some_and(Vec::is_empty)
}

/// Says where the routes of an interface take a packet.
pub(super) fn next(fabric: &Fabric, nic: &Nic, to: IpAddr) -> Next {
    if unrouted(nic) {
        return Next::Straight { peered: false };
    }
    let tags = tags(fabric);
    let Ok(table) = route::Table::parse(&nic.routes.to_string(), tags.as_ref()) else { return Next::Nowhere };
    let choice = table.choose(to);
    let Some(best) = choice.best().next() else { return Next::Nowhere };
    match best.row.hop {
        route::Hop::None => Next::Nowhere,
        route::Hop::Gateway => Next::Gateway,
        route::Hop::Local => Next::Straight { peered: false },
        route::Hop::Peering => Next::Straight { peered: true },
        route::Hop::ServiceEndpoint | route::Hop::Other => Next::ExternalHost,
        route::Hop::Appliance => {
            let address = best.row.hop_ips.iter().find_map(|address| address.parse().ok());
            address.map_or(Next::Nowhere, Next::Appliance)
        }
    }
}

/// Whether a packet goes to a service for which the subnet has an endpoint: it leaves by that, whatever else there is.
pub(super) fn is_service(fabric: &Fabric, nic: &Nic, to: IpAddr) -> bool {
    let tags = tags(fabric);
    let table = route::Table::parse(&nic.routes.to_string(), tags.as_ref());
    table.is_ok_and(|table| {
        let choice = table.choose(to);
        choice.best().next().is_some_and(|best| best.row.hop == route::Hop::ServiceEndpoint)
    })
}

fn tags(fabric: &Fabric) -> Option<Tags> {
    (!fabric.tags.is_null()).then(|| Tags::parse(&fabric.tags.to_string()).ok()).flatten()
}

/// What a packet meets when it leaves a machine.
pub(super) const OUT: [Hook; 2] = [Hook::Output, Hook::Postrouting];
/// What it meets when it enters one.
pub(super) const IN: [Hook; 2] = [Hook::Prerouting, Hook::Input];

/// Takes a packet through hooks of a machine, each with the device on which that happens; a mark goes along.
pub(super) fn judge(
    world: &mut World,
    machine: &str,
    packet: &Datagram,
    hooks: &[(Hook, &str)],
) -> Option<DropResponse> {
    let guest = world.guests.get_mut(machine)?;
    let mut mark = Some(0);
    for (hook, device) in hooks {
        let name = |is: bool| is.then(|| (*device).to_owned());
        let input = name(matches!(hook, Hook::Prerouting | Hook::Input | Hook::Forward));
        let output = name(matches!(hook, Hook::Output | Hook::Postrouting | Hook::Forward));
        let mut packet = Packet { mark, ..packet.at(*hook, input, output) };
        match guest.judge(&mut packet) {
            PacketVerdict::Passes => mark = packet.mark,
            PacketVerdict::Dropped => return Some(DropResponse::Silent),
            PacketVerdict::Refused { reset: true, .. } => return Some(DropResponse::Reset),
            PacketVerdict::Refused { reset: false, code } => return Some(DropResponse::Unreachable(code)),
        }
    }
    None
}

/// Takes a packet from a machine to itself.
pub(super) fn stays(world: &mut World, machine: &str, packet: &Datagram) -> Option<DropPoint> {
    if let Some(how) = judge(world, machine, packet, &OUT.map(|hook| (hook, "lo"))) {
        return Some(DropPoint::Sender(visible_response(world, machine, packet, how)));
    }
    judge(world, machine, packet, &IN.map(|hook| (hook, "lo"))).map(DropPoint::Receiver)
}

/// What a program hears of a packet that its own machine refused to send: the word about it meets the same packet filter.
pub(super) fn visible_response(
    world: &mut World,
    machine: &str,
    packet: &Datagram,
    how: DropResponse,
) -> DropResponse {
    let reset = match how {
        DropResponse::Silent => return how,
        DropResponse::Reset => true,
        DropResponse::Unreachable(_) => false,
    };
    let six = packet.src.0.is_ipv6();
    let from = if reset { packet.dst } else { packet.src };
    let word = Datagram {
        from: Some(machine.to_owned()),
        src: from,
        dst: packet.src,
        protocol: if reset {
            6
        } else if six {
            58
        } else {
            1
        },
        flags: reset.then_some(20),
        icmp: (!reset).then_some(if six { 1 } else { 3 }),
        state: State::Related,
        refusal: true,
    };
    let hooks: Vec<(Hook, &str)> = OUT.iter().chain(&IN).map(|hook| (*hook, "lo")).collect();
    if judge(world, machine, &word, &hooks).is_some() { DropResponse::Silent } else { how }
}
