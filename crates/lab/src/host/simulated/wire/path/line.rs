//! A path there and back, for one conversation.

use std::net::IpAddr;

use super::app_gateway::listener;
use super::firewall::half;
use super::internet::port;
use super::location::{Location, exit, location, shares};
use super::walk::{Datagram, DropPoint, DropResponse, PathDirection, walk};
use crate::host::simulated::world::World;
use crate::host::stage::{Behavior, Oddity, Protocol};
use ghost_inspect::netfilter::State;

/// The hardware address behind which the platform keeps everything that is not in a machine's own subnet.
const GATEWAY: [u8; 6] = [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc];

/// Who wants to speak with whom.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct Call {
    /// The machine that begins.
    pub(in crate::host::simulated::wire) machine: String,
    /// Where it goes.
    pub(in crate::host::simulated::wire) to: IpAddr,
    pub(in crate::host::simulated::wire) protocol: Protocol,
    /// The port there.
    pub(in crate::host::simulated::wire) port: u16,
    /// The port here.
    pub(in crate::host::simulated::wire) own_port: u16,
    /// Whether somebody is known to listen there, whatever the machine says.
    pub(in crate::host::simulated::wire) served: bool,
}

/// What is at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host::simulated::wire) enum End {
    /// Somebody who answers.
    Answers,
    /// Somebody who does not.
    Silent,
    /// Nobody, and the machine says so.
    Refuses,
}

/// One side of a conversation, as the other one sees it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct Side {
    /// The machine; nobody's, if it is outside.
    pub(in crate::host::simulated::wire) machine: Option<String>,
    pub(in crate::host::simulated::wire) address: IpAddr,
    pub(in crate::host::simulated::wire) port: u16,
    /// Its hardware address, as the other side sees it.
    pub(in crate::host::simulated::wire) mac: [u8; 6],
    /// Its largest packet.
    pub(in crate::host::simulated::wire) mtu: u32,
}

/// A path there and back.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct Line {
    /// Who begins.
    pub(in crate::host::simulated::wire) near: Side,
    /// Who is called.
    pub(in crate::host::simulated::wire) far: Side,
    pub(in crate::host::simulated::wire) protocol: Protocol,
    /// The forward path.
    pub(in crate::host::simulated::wire) there: PathDirection,
    /// The return path, of the first answer.
    pub(in crate::host::simulated::wire) back: PathDirection,
    /// Who is there.
    pub(in crate::host::simulated::wire) end: End,
    /// The largest packet between, and whether senders heed it.
    pub(in crate::host::simulated::wire) narrow: Option<(u32, bool)>,
    /// Whether both sides call each other by the same addresses.
    pub(in crate::host::simulated::wire) plain: bool,
}

impl Line {
    /// Whether an answer comes, and arrives.
    pub(in crate::host::simulated::wire) fn open(&self) -> bool {
        self.end == End::Answers && self.there.whole() && self.back.whole()
    }

    /// Whether a refusal comes, and arrives.
    pub(in crate::host::simulated::wire) fn refuses(&self) -> bool {
        let loud = |how| matches!(how, DropResponse::Reset | DropResponse::Unreachable(_));
        match self.there.fall {
            Some(DropPoint::Sender(how)) => loud(how),
            Some(DropPoint::Receiver(how)) => loud(how) && self.back.whole(),
            Some(DropPoint::Between) => false,
            None => self.end == End::Refuses && self.back.whole(),
        }
    }

    /// There and back on average; nanoseconds.
    pub(in crate::host::simulated::wire) fn round(&self) -> u64 {
        self.there.delay().saturating_add(self.back.delay())
    }
}

/// Examines the path of a conversation.
pub(in crate::host::simulated::wire) fn line(world: &mut World, call: &Call) -> Line {
    let near = near(world, call);
    let first = Datagram {
        from: Some(call.machine.clone()),
        src: (near.address, call.own_port),
        dst: (call.to, call.port),
        protocol: number(call.protocol, call.to),
        flags: (call.protocol == Protocol::Tcp).then_some(2),
        icmp: (call.protocol == Protocol::Icmp).then_some(if call.to.is_ipv6() { 128 } else { 8 }),
        state: State::New,
        refusal: false,
    };
    let there = walk(world, &first);
    let end = end(world, call, &there);
    let (mut far, plain) = far(world, call, &near);
    if let (Some(_), Some(Location::Machine { name, .. })) = (there.port, &there.arrives) {
        far.machine = Some(name.clone());
    }
    let back = answer(world, &first, &there, end, &far);
    let back = half(&there, back, (first.protocol, end));
    let narrow = world.stage.oddities.iter().find_map(|oddity| match oddity {
        Oddity::PathMtu { mtu, heeded } => Some(((*mtu).max(68), *heeded)),
        Oddity::ArpConflict { .. } | Oddity::Dns { .. } | Oddity::Asymmetric { .. } => None,
    });
    let narrow = narrow.filter(|_| far.machine.is_some() && !there.local);
    Line { near, far, protocol: call.protocol, there, back, end, narrow, plain }
}

/// The number of a protocol.
fn number(protocol: Protocol, to: IpAddr) -> u8 {
    match protocol {
        Protocol::Tcp => 6,
        Protocol::Udp => 17,
        Protocol::Icmp if to.is_ipv6() => 58,
        Protocol::Icmp => 1,
    }
}

fn near(world: &World, call: &Call) -> Side {
    let machine = world.machine(&call.machine);
    let nic = machine.and_then(|machine| exit(machine, call.to));
    let nobody = if call.to.is_ipv4() { IpAddr::from([0, 0, 0, 0]) } else { IpAddr::from([0_u8; 16]) };
    let address = if call.to.is_loopback() { call.to } else { nic.map_or(nobody, |(_, _, own)| own) };
    let mac = nic.map_or([0; 6], |(_, nic, _)| mac(&nic.mac));
    let guest = world.guests.get(&call.machine);
    let own = guest.and_then(|guest| guest.route(call.to)).and_then(|route| route.mtu);
    let mtu = guest.map_or(1500, |guest| own.map_or(guest.mtu, |own| own.min(guest.mtu)));
    Side { machine: Some(call.machine.clone()), address, port: call.own_port, mac, mtu }
}

fn far(world: &World, call: &Call, near: &Side) -> (Side, bool) {
    let port = call.port;
    if call.to.is_loopback() {
        return (Side { port, address: call.to, ..near.clone() }, true);
    }
    let side = |machine, mac, mtu| Side { machine, address: call.to, port, mac, mtu };
    match location(world, call.to) {
        Location::Machine { name, nic, inside } => {
            let own = world.machine(&name).and_then(|machine| machine.nics.get(nic));
            let length = own.and_then(|nic| nic.addresses.first()).map_or(24, |(_, length)| *length);
            let close = shares(near.address, call.to, length);
            let mac = own.filter(|_| close).map_or(GATEWAY, |nic| mac(&nic.mac));
            let mtu = world.guests.get(&name).map_or(1500, |guest| guest.mtu);
            (side(Some(name), mac, mtu), inside.is_none())
        }
        Location::Platform
        | Location::Endpoint(_)
        | Location::AppGateway(_)
        | Location::Bastion
        | Location::ExternalHost(_)
        | Location::Nobody => (side(None, GATEWAY, 1500), false),
    }
}

/// Reads a hardware address, whatever stands between its numbers.
fn mac(text: &str) -> [u8; 6] {
    let mut mac = [0; 6];
    let bytes = text.split([':', '-']).map(|byte| u8::from_str_radix(byte, 16).unwrap_or(0));
    mac.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
    mac
}

fn end(world: &World, call: &Call, there: &PathDirection) -> End {
    match &there.arrives {
        Some(Location::Machine { name, .. }) => match call.protocol {
            _ if call.served => End::Answers,
            Protocol::Icmp => End::Answers,
            Protocol::Tcp | Protocol::Udp => {
                match world.listener(name, call.protocol, there.port.unwrap_or(call.port)) {
                    Some(Behavior::Answers) => End::Answers,
                    Some(Behavior::Silent) => End::Silent,
                    None => End::Refuses,
                }
            }
        },
        Some(Location::Platform) => match (call.protocol, call.port) {
            (Protocol::Tcp, 80 | 53 | 32_526) | (Protocol::Udp, 53 | 67) => End::Answers,
            (Protocol::Tcp | Protocol::Udp | Protocol::Icmp, _) => End::Silent,
        },
        Some(Location::Endpoint(at)) => {
            let own = world.fabric.endpoints.get(*at);
            let is_open = own
                .is_some_and(|own| own.approved && own.groups.iter().any(|group| port(group) == call.port));
            if is_open && call.protocol == Protocol::Tcp { End::Answers } else { End::Silent }
        }
        Some(Location::AppGateway(at)) => {
            let is_there = call.protocol == Protocol::Tcp
                && listener(world, *at, call.to, there.port.unwrap_or(call.port)).is_some();
            if is_there { End::Answers } else { End::Silent }
        }
        Some(Location::ExternalHost(outside)) => {
            let answers = match call.protocol {
                Protocol::Icmp => outside.echoes,
                Protocol::Udp => outside.names && call.port == 53,
                Protocol::Tcp => outside.ports.contains(&call.port),
            };
            if answers { End::Answers } else { End::Silent }
        }
        Some(Location::Bastion | Location::Nobody) | None => End::Silent,
    }
}

/// Walks the first answer back, whatever it is.
fn answer(world: &mut World, first: &Datagram, there: &PathDirection, end: End, far: &Side) -> PathDirection {
    let lost = PathDirection { fall: Some(DropPoint::Between), base: there.base, ..PathDirection::default() };
    let error = if first.dst.0.is_ipv6() { (58, None, Some(1)) } else { (1, None, Some(3)) };
    let error = (error.0, error.1, error.2, State::Related);
    let tcp = first.protocol == 6;
    let (protocol, flags, icmp, state) = match (there.fall, end) {
        (Some(DropPoint::Sender(_) | DropPoint::Between | DropPoint::Receiver(DropResponse::Silent)), _)
        | (None, End::Silent) => {
            return lost;
        }
        (Some(DropPoint::Receiver(DropResponse::Unreachable(_))), _) => error,
        (Some(DropPoint::Receiver(DropResponse::Reset)), _) => (6, Some(20), None, State::Established),
        (None, End::Refuses) if tcp => (6, Some(20), None, State::Established),
        (None, End::Refuses) => error,
        (None, End::Answers) => {
            let echo = first.icmp.map(|kind| if kind == 128 { 129 } else { 0 });
            (first.protocol, tcp.then_some(18), echo, State::Established)
        }
    };
    let inside = match &there.arrives {
        Some(Location::Machine { inside: Some(inside), .. }) => *inside,
        _ => first.dst.0,
    };
    let packet = Datagram {
        from: far.machine.clone(),
        src: (inside, there.port.unwrap_or(first.dst.1)),
        dst: first.src,
        protocol,
        flags,
        icmp,
        state,
        refusal: matches!(there.fall, Some(DropPoint::Receiver(_))),
    };
    walk(world, &packet)
}
