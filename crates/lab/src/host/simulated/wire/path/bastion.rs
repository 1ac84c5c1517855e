//! A session through a bastion host: the host is reached and managed, and calls the machine from its own subnet.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::gate::{Next, lets, next};
use super::location::Location;
use super::walk::{Datagram, DropPoint, PathDirection, carry_on, walk};
use crate::host::fabric::Bastion;
use crate::host::port::ConnectOutcome;
use crate::host::simulated::world::World;
use crate::host::stage::{Behavior, Protocol};
use ghost_inspect::netfilter::State;

/// Somebody who manages bastion hosts, somebody who uses them, and a service of the platform that they need.
const MANAGER: Ipv4Addr = Ipv4Addr::new(20, 21, 32, 33);
const USER: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const CLOUD: Ipv4Addr = Ipv4Addr::new(20, 38, 77, 5);
/// The port of all of them.
const PORT: u16 = 443;

/// Tries a session through a bastion host; nothing where there is none of that name.
pub(in crate::host) fn session(
    world: &mut World,
    name: &str,
    to: IpAddr,
    port: u16,
) -> Option<ConnectOutcome> {
    let own = world.fabric.bastions.iter().find(|own| own.name.eq_ignore_ascii_case(name))?.clone();
    let is_machine = world
        .fabric
        .machines
        .iter()
        .flat_map(|machine| &machine.nics)
        .any(|nic| nic.addresses.iter().any(|(address, _)| *address == to));
    if !is_managed(world, &own) || !(is_machine || own.ip_connect) {
        return Some(ConnectOutcome::Silent);
    }
    Some(call(world, &own, to, port))
}

fn is_managed(world: &World, own: &Bastion) -> bool {
    let inside = (own.address, PORT);
    let enters =
        |from: Ipv4Addr| lets(&world.fabric, &own.nic, "inbound", 6, (IpAddr::V4(from), 50_000), inside);
    let leaves = || {
        lets(&world.fabric, &own.nic, "outbound", 6, (own.address, 50_000), (IpAddr::V4(CLOUD), PORT))
            && next(&world.fabric, &own.nic, IpAddr::V4(CLOUD)) != Next::Nowhere
    };
    enters(MANAGER) && leaves() && (!own.has_public || enters(USER))
}

fn call(world: &mut World, own: &Bastion, to: IpAddr, port: u16) -> ConnectOutcome {
    let question = Datagram {
        from: None,
        src: (own.address, 51_000),
        dst: (to, port),
        protocol: 6,
        flags: Some(2),
        icmp: None,
        state: State::New,
        refusal: false,
    };
    let mut there = PathDirection::default();
    carry_on(world, &own.name, own.nic.clone(), &question, &mut there);
    let machine = match (&there.fall, &there.arrives) {
        (None, Some(Location::Machine { name, .. })) => name.clone(),
        (Some(DropPoint::Receiver(how)), _) if how.is_notified() => return ConnectOutcome::Refused,
        _ => return ConnectOutcome::Silent,
    };
    let answer = Datagram {
        from: Some(machine.clone()),
        src: question.dst,
        dst: question.src,
        flags: Some(18),
        state: State::Established,
        ..question
    };
    let back = walk(world, &answer);
    if !back.whole() {
        return ConnectOutcome::Silent;
    }
    match world.listener(&machine, Protocol::Tcp, port) {
        Some(Behavior::Answers) => ConnectOutcome::Open(Duration::from_nanos(there.base + back.base)),
        Some(Behavior::Silent) => ConnectOutcome::Silent,
        None => ConnectOutcome::Refused,
    }
}
