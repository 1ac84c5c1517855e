//! A session through a bastion host: the host is reached and managed, and calls the machine from its own subnet.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::gate::{Next, lets, next};
use super::service::{ServiceCall, call};
use crate::host::fabric::Bastion;
use crate::host::port::ConnectOutcome;
use crate::host::simulated::world::World;

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
    Some(match call(world, (&own.name, &own.nic, own.address), to, port) {
        ServiceCall::Open { took, .. } => ConnectOutcome::Open(Duration::from_nanos(took)),
        ServiceCall::Refused | ServiceCall::Lost { is_notified: true } => ConnectOutcome::Refused,
        ServiceCall::Unanswered | ServiceCall::Lost { is_notified: false } => ConnectOutcome::Silent,
    })
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
