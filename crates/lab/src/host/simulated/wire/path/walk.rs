//! One packet in transit, in one direction.

use std::net::IpAddr;

use super::balance::{Balanced, balance};
use super::firewall::{firewall, passes};
use super::gate::{IN, OUT, judge, stays, visible_response};
use super::gate::{Next, is_service, lets, next, unrouted};
use super::internet::takes;
use super::location::{Location, exit, location};
use super::site::{came_by, is_open};
use crate::host::fabric::{Exit, Nic};
use crate::host::simulated::guest::Shaping;
use crate::host::simulated::world::World;
use crate::host::stage::Oddity;
use ghost_inspect::netfilter::{Hook, Packet, State};
use ghost_inspect::qdisc::Flow;

/// The delay of one direction through a network, and what every appliance and every other network adds; nanoseconds.
const HOP_NANOS: u64 = 118_000;
const HOP: u64 = 130_000;
const PEERED: u64 = 240_000;
/// The most appliances on a path; then it is a circle.
const MAX_HOPS: usize = 8;

/// A packet as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct Datagram {
    /// The machine that sends it; nobody's, if it comes from outside.
    pub(in crate::host::simulated::wire) from: Option<String>,
    /// Where it comes from.
    pub(in crate::host::simulated::wire) src: (IpAddr, u16),
    /// Where it goes.
    pub(in crate::host::simulated::wire) dst: (IpAddr, u16),
    /// The number of its protocol.
    pub(in crate::host::simulated::wire) protocol: u8,
    /// Its TCP flags.
    pub(in crate::host::simulated::wire) flags: Option<u8>,
    /// Its type of ICMP.
    pub(in crate::host::simulated::wire) icmp: Option<u8>,
    /// What connection tables know about it.
    pub(in crate::host::simulated::wire) state: State,
    /// Whether a packet filter wrote it: to its own machine it is about a connection, and none of it.
    pub(in crate::host::simulated::wire) refusal: bool,
}

impl Datagram {
    /// Whether it answers something, so that the platform lets it through.
    pub(super) fn answers(&self) -> bool {
        self.state != State::New
    }

    pub(super) fn at(&self, hook: Hook, input: Option<String>, output: Option<String>) -> Packet {
        let ports = matches!(self.protocol, 6 | 17);
        // A packet that stays on its machine keeps what it is there.
        let own = matches!(hook, Hook::Output | Hook::Postrouting) || input.as_deref() == Some("lo");
        let state = if self.refusal && own { State::Related } else { self.state };
        Packet {
            hook,
            protocol: self.protocol,
            src: self.src.0,
            dst: self.dst.0,
            sport: ports.then_some(self.src.1),
            dport: ports.then_some(self.dst.1),
            input,
            output,
            state: Some(state),
            icmp_type: self.icmp,
            tcp_flags: self.flags,
            mark: Some(0),
        }
    }
}

/// How a packet ends that does not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host::simulated::wire) enum DropResponse {
    /// Without a word.
    Silent,
    Reset,
    /// With an ICMP error that it cannot be reached, and why: its code.
    Unreachable(u8),
}

/// Where a packet ends that does not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host::simulated::wire) enum DropPoint {
    /// At its sender, before it is sent.
    Sender(DropResponse),
    /// Between the machines.
    Between,
    /// At its receiver, after it came.
    Receiver(DropResponse),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::host::simulated::wire) struct PathDirection {
    /// What the sender's device does.
    pub(in crate::host::simulated::wire) own: Shaping,
    /// What devices of appliances do.
    pub(in crate::host::simulated::wire) between: Vec<Shaping>,
    /// How long it takes besides; nanoseconds.
    pub(in crate::host::simulated::wire) base: u64,
    /// Where it ends, unless it arrives.
    pub(in crate::host::simulated::wire) fall: Option<DropPoint>,
    /// The appliances on the path.
    pub(in crate::host::simulated::wire) hops: Vec<IpAddr>,
    /// The firewalls of the platform on the path, which answer nobody.
    pub(in crate::host::simulated::wire) firewalls: Vec<IpAddr>,
    /// The machine where it arrives.
    pub(in crate::host::simulated::wire) arrives: Option<Location>,
    /// The port to which a load balancer sent it.
    pub(in crate::host::simulated::wire) port: Option<u16>,
    /// Whether it never leaves its machine.
    pub(in crate::host::simulated::wire) local: bool,
}

impl DropResponse {
    /// Whether a program that sends datagrams hears of it: an error that may pass is kept from it.
    pub(in crate::host::simulated::wire) fn is_notified(self) -> bool {
        matches!(self, Self::Reset | Self::Unreachable(2..))
    }
}

impl PathDirection {
    /// Whether a packet arrives and reaches a program.
    pub(in crate::host::simulated::wire) fn whole(&self) -> bool {
        self.fall.is_none()
    }

    /// The share of packets that are lost or damaged on the path.
    pub(in crate::host::simulated::wire) fn lost(&self) -> f64 {
        let kept = |shaping: &Shaping| (1.0 - shaping.loss) * (1.0 - shaping.corrupt);
        1.0 - self.between.iter().chain([&self.own]).map(kept).product::<f64>()
    }

    /// The least bits a second on the path, with what goes at once.
    pub(in crate::host::simulated::wire) fn rate(&self) -> Option<(u64, u64)> {
        self.between.iter().chain([&self.own]).filter_map(|shaping| shaping.rate).min()
    }

    /// How long a packet takes on average; nanoseconds.
    pub(in crate::host::simulated::wire) fn delay(&self) -> u64 {
        let waits = self.between.iter().chain([&self.own]).map(|shaping| nanos(shaping.delay));
        waits.fold(self.base, u64::saturating_add)
    }
}

/// Nanoseconds of a time, at most some hundred years.
pub(in crate::host::simulated::wire) fn nanos(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

/// Takes a packet from its sender to wherever it ends.
pub(in crate::host::simulated::wire) fn walk(world: &mut World, packet: &Datagram) -> PathDirection {
    let mut leg = PathDirection::default();
    let Some(from) = packet.from.clone() else {
        if let Some(gateway) = came_by(&world.fabric, packet.src.0) {
            let name = gateway.name.clone();
            carry_on(world, &name, gateway, packet, &mut leg);
            return leg;
        }
        if let Location::ExternalHost(outside) = location(world, packet.src.0) {
            leg.base = u64::from(outside.round) * 500;
        }
        receive(world, packet, &mut leg);
        return leg;
    };
    if own(world, &from, packet.dst.0) {
        leg.local = true;
        (leg.base, leg.arrives) =
            (12_000, Some(Location::Machine { name: from.clone(), nic: 0, inside: None }));
        leg.fall = stays(world, &from, packet);
        return leg;
    }
    let Some((nic, document)) = world
        .machine(&from)
        .and_then(|machine| exit(machine, packet.dst.0))
        .map(|(at, nic, _)| (at, nic.clone()))
    else {
        leg.fall = Some(DropPoint::Between);
        return leg;
    };
    let leads = world.guests.get(&from).is_none_or(|guest| {
        let route = guest.route(packet.dst.0);
        packet.dst.0.is_ipv6() || route.is_some_and(|route| route.kind.is_empty())
    });
    if !leads {
        leg.fall = Some(DropPoint::Sender(DropResponse::Unreachable(3)));
        return leg;
    }
    if down(world, &from, nic) || !send(world, &from, nic, packet, &mut leg) {
        leg.fall = leg.fall.or(Some(DropPoint::Sender(DropResponse::Silent)));
        return leg;
    }
    carry(world, &from, document, packet, &mut leg);
    leg
}

fn own(world: &World, machine: &str, address: IpAddr) -> bool {
    let mine = world.machine(machine).is_some_and(|machine| {
        machine.nics.iter().any(|nic| nic.addresses.iter().any(|(own, _)| *own == address))
    });
    mine || address.is_loopback()
}

/// Takes a packet through the sender's own firewall and onto its device.
fn send(world: &mut World, from: &str, nic: usize, packet: &Datagram, leg: &mut PathDirection) -> bool {
    let device = format!("eth{nic}");
    if let Some(how) = judge(world, from, packet, &OUT.map(|hook| (hook, device.as_str()))) {
        leg.fall = Some(DropPoint::Sender(visible_response(world, from, packet, how)));
        return false;
    }
    leg.own = shaping(world, from, &device, packet);
    true
}

/// Takes a packet from a device to whoever a load balancer chooses, where it goes to one.
fn carry(world: &mut World, from: &str, nic: Nic, packet: &Datagram, leg: &mut PathDirection) {
    let found = if packet.answers() { Balanced::Elsewhere } else { balance(world, packet) };
    match found {
        Balanced::Elsewhere => carry_on(world, from, nic, packet, leg),
        Balanced::Dropped => leg.fall = leg.fall.or(Some(DropPoint::Between)),
        Balanced::Member(onward) => {
            // The rules of whoever sends see the frontend.
            if !lets(&world.fabric, &nic, "outbound", packet.protocol, packet.src, packet.dst) {
                leg.fall = leg.fall.or(Some(DropPoint::Between));
                return;
            }
            carry_on(world, from, nic, &onward, leg);
            leg.port = Some(onward.dst.1);
            if let Some(Location::Machine { inside, .. }) = &mut leg.arrives {
                *inside = Some(onward.dst.0);
            }
        }
    }
}

/// Takes a packet from a device through the platform.
pub(super) fn carry_on(
    world: &mut World,
    from: &str,
    mut nic: Nic,
    packet: &Datagram,
    leg: &mut PathDirection,
) {
    let to = location(world, packet.dst.0);
    if to == Location::Platform {
        (leg.base, leg.arrives) = (160_000, Some(to));
        return;
    }
    let mut sender = from.to_owned();
    for _ in 0..MAX_HOPS {
        let open = packet.answers()
            || lets(&world.fabric, &nic, "outbound", packet.protocol, packet.src, packet.dst);
        if !open || astray(world, from, packet) {
            break;
        }
        match next(&world.fabric, &nic, packet.dst.0) {
            Next::Nowhere => break,
            Next::Straight { peered } => {
                let here = matches!(
                    to,
                    Location::Machine { inside: None, .. }
                        | Location::Endpoint(_)
                        | Location::AppGateway(_)
                        | Location::Bastion
                );
                // Without a table of routes, whatever is known can be reached.
                let free = unrouted(&nic) && to != Location::Nobody;
                if !here && !free {
                    break;
                }
                if let Location::Machine { name, nic: at, .. } = &to
                    && world
                        .machine(name)
                        .and_then(|machine| machine.nics.get(*at))
                        .is_some_and(|end| keeps_out(end, &nic, packet.src.0))
                {
                    break;
                }
                leg.base += if peered { PEERED } else { HOP_NANOS };
                return arrive(world, packet, &to, leg);
            }
            Next::ExternalHost => {
                let is_at_site = matches!(&to, Location::ExternalHost(outside) if outside.is_at_site);
                if is_at_site
                    || !matches!(
                        to,
                        Location::ExternalHost(_)
                            | Location::AppGateway(_)
                            | Location::Machine { inside: Some(_), .. }
                    )
                {
                    break;
                }
                let is_out = match nic.exit {
                    Exit::Open => true,
                    Exit::Crowded => packet.answers() || packet.src.1.is_multiple_of(2),
                    Exit::Closed => packet.answers(),
                };
                if !packet.answers() && !takes(&world.fabric, &nic, packet.dst.0) {
                    break;
                }
                if !is_out && !is_service(&world.fabric, &nic, packet.dst.0) {
                    break;
                }
                leg.base += HOP_NANOS;
                return arrive(world, packet, &to, leg);
            }
            Next::Gateway => {
                let is_at_site = matches!(&to, Location::ExternalHost(outside) if outside.is_at_site);
                if !is_at_site || !is_open(&world.fabric, &nic, packet.dst.0) {
                    break;
                }
                leg.base += HOP;
                return arrive(world, packet, &to, leg);
            }
            Next::Appliance(address) if firewall(&world.fabric, address).is_some() => {
                let Some(own) = firewall(&world.fabric, address) else { break };
                if leg.firewalls.contains(&address) || !passes(own, packet) {
                    break;
                }
                leg.base += HOP;
                leg.firewalls.push(address);
                (sender, nic) = (own.nic.name.clone(), own.nic.clone());
            }
            Next::Appliance(address) => {
                let Location::Machine { name, nic: at, .. } = location(world, address) else { break };
                if name == sender {
                    break;
                }
                leg.base += HOP;
                if matches!(&to, Location::Machine { name: end, .. } if *end == name) {
                    return arrive(world, packet, &to, leg);
                }
                leg.hops.push(address);
                let found = world.machine(&name).and_then(|machine| machine.nics.get(at)).cloned();
                let Some(own) = found.filter(|own| own.forwards) else { break };
                if keeps_out(&own, &nic, packet.src.0) {
                    break;
                }
                if !forward(world, &name, (at, &own), packet, leg) {
                    break;
                }
                (sender, nic) = (name, own);
            }
        }
    }
    leg.fall = leg.fall.or(Some(DropPoint::Between));
}

/// Tells whether the peering by which a packet comes to an interface takes in only what comes from the other network itself.
fn keeps_out(end: &Nic, sender: &Nic, source: IpAddr) -> bool {
    let peer = end.unforwarded.iter().find(|peer| peer.network == sender.network);
    peer.is_some_and(|peer| !peer.space.iter().any(|space| space.contains(&source)))
}

/// Takes a packet through an appliance; false where it ends there.
fn forward(
    world: &mut World,
    name: &str,
    (at, nic): (usize, &Nic),
    packet: &Datagram,
    leg: &mut PathDirection,
) -> bool {
    let open =
        packet.answers() || lets(&world.fabric, nic, "inbound", packet.protocol, packet.src, packet.dst);
    let device = format!("eth{at}");
    let hooks = [Hook::Prerouting, Hook::Forward, Hook::Postrouting].map(|hook| (hook, device.as_str()));
    let passes = open && judge(world, name, packet, &hooks).is_none();
    let own = shaping(world, name, &device, packet);
    leg.between.push(own);
    passes
}

fn arrive(world: &mut World, packet: &Datagram, to: &Location, leg: &mut PathDirection) {
    match to {
        Location::ExternalHost(outside) => {
            leg.base += u64::from(outside.round) * 500;
            leg.arrives = Some(to.clone());
        }
        Location::Machine { name, nic, .. } => {
            let nic = world.machine(name).and_then(|machine| machine.nics.get(*nic)).cloned();
            let open = packet.answers()
                || nic.is_none_or(|nic| {
                    lets(&world.fabric, &nic, "inbound", packet.protocol, packet.src, packet.dst)
                });
            if open {
                receive(world, packet, leg);
            } else {
                leg.fall = Some(DropPoint::Between);
            }
        }
        Location::AppGateway(at) => {
            let own = world.fabric.app_gateways.get(*at);
            let open = packet.answers()
                || own.is_none_or(|own| {
                    // The group of the subnet sees the address inside.
                    let inside = (own.address, packet.dst.1);
                    lets(&world.fabric, &own.nic, "inbound", packet.protocol, packet.src, inside)
                });
            leg.arrives = Some(to.clone()).filter(|_| open);
            leg.fall = leg.fall.or((!open).then_some(DropPoint::Between));
        }
        // Nobody calls a bastion host from inside; what it hears are answers.
        Location::Bastion if !packet.answers() => leg.fall = leg.fall.or(Some(DropPoint::Between)),
        Location::Bastion | Location::Platform | Location::Endpoint(_) | Location::Nobody => {
            leg.arrives = Some(to.clone());
        }
    }
}

/// Takes a packet from the device of its receiver through its firewall.
fn receive(world: &mut World, packet: &Datagram, leg: &mut PathDirection) {
    let to = location(world, packet.dst.0);
    if let Location::Machine { name, nic, inside } = &to {
        let mut packet = packet.clone();
        packet.dst.0 = inside.unwrap_or(packet.dst.0);
        let device = format!("eth{nic}");
        if down(world, name, *nic) {
            leg.fall = Some(DropPoint::Between);
            return;
        }
        let fall = judge(world, name, &packet, &IN.map(|hook| (hook, device.as_str())));
        leg.fall = fall.map(DropPoint::Receiver);
    }
    leg.arrives = Some(to);
}

/// Whether somebody took a device down.
fn down(world: &World, machine: &str, nic: usize) -> bool {
    world.guests.get(machine).is_some_and(|guest| guest.down.contains(&format!("eth{nic}")))
}

/// Whether the answers of a machine are routed to nowhere.
fn astray(world: &World, from: &str, packet: &Datagram) -> bool {
    packet.answers()
        && world.stage.oddities.iter().any(|oddity| match oddity {
            Oddity::Asymmetric { machine, to, .. } => machine == from && *to == packet.dst.0,
            Oddity::PathMtu { .. } | Oddity::ArpConflict { .. } | Oddity::Dns { .. } => false,
        })
}

fn shaping(world: &World, machine: &str, device: &str, packet: &Datagram) -> Shaping {
    // Where others have ports, ICMP has its type, its code and its checksum; filters look there without asking.
    let kind = packet.icmp.map(|kind| (u16::from(kind) << 8, 0xffff));
    let (sport, dport) = kind.unwrap_or((packet.src.1, packet.dst.1));
    let flow = Flow {
        protocol: packet.protocol,
        src: packet.src.0,
        dst: packet.dst.0,
        sport: Some(sport),
        dport: Some(dport),
        priority: Some(0),
    };
    world.guests.get(machine).map(|guest| guest.shaping(device, &flow)).unwrap_or_default()
}
