//! Whose an address is.

use std::net::IpAddr;

use super::app_gateway::at;
use super::internet::{ExternalHost, METADATA, PLATFORM, outside};
use super::site::site_host;
use crate::host::fabric::{Machine, Nic};
use crate::host::simulated::world::World;

/// Who has an address.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) enum Location {
    /// A machine, by one of its interfaces.
    Machine {
        name: String,
        /// Which interface.
        nic: usize,
        /// The address inside, where it was a public one.
        inside: Option<IpAddr>,
    },
    /// The platform itself.
    Platform,
    /// A private endpoint, by its place in the fabric.
    Endpoint(usize),
    /// An application gateway, by its place in the fabric.
    AppGateway(usize),
    /// A bastion host.
    Bastion,
    /// Somebody outside.
    ExternalHost(ExternalHost),
    Nobody,
}

/// Says who has an address.
pub(in crate::host::simulated::wire) fn location(world: &World, address: IpAddr) -> Location {
    if address == IpAddr::V4(PLATFORM) || address == IpAddr::V4(METADATA) {
        return Location::Platform;
    }
    for machine in world.fabric.machines.iter().filter(|machine| machine.running) {
        for (at, nic) in machine.nics.iter().enumerate() {
            let owns = nic.addresses.iter().any(|(own, _)| *own == address);
            if owns {
                return Location::Machine { name: machine.name.clone(), nic: at, inside: None };
            }
            if nic.public == Some(address) {
                let inside = nic.addresses.iter().map(|(own, _)| *own).find(IpAddr::is_ipv4);
                return Location::Machine { name: machine.name.clone(), nic: at, inside };
            }
        }
    }
    let endpoint = world.fabric.endpoints.iter().position(|own| own.address == Some(address));
    if let Some(at) = endpoint {
        return Location::Endpoint(at);
    }
    if let Some(place) = at(world, address) {
        return Location::AppGateway(place);
    }
    if world.fabric.bastions.iter().any(|own| own.address == address) {
        return Location::Bastion;
    }
    site_host(&world.fabric, address)
        .or_else(|| outside(&world.fabric, address))
        .map_or(Location::Nobody, Location::ExternalHost)
}

/// Returns the interface by which a machine sends to an address: one of its network, else the first.
pub(in crate::host::simulated::wire) fn exit(machine: &Machine, to: IpAddr) -> Option<(usize, &Nic, IpAddr)> {
    let same = |own: &IpAddr| own.is_ipv4() == to.is_ipv4();
    let near = machine.nics.iter().enumerate().find_map(|(at, nic)| {
        let address = nic.addresses.iter().find(|(own, length)| same(own) && shares(*own, to, *length))?;
        Some((at, nic, address.0))
    });
    near.or_else(|| {
        machine
            .nics
            .iter()
            .enumerate()
            .find_map(|(at, nic)| Some((at, nic, nic.addresses.iter().map(|(own, _)| *own).find(same)?)))
    })
}

/// Whether two addresses share so many leading bits.
pub(in crate::host::simulated::wire) fn shares(one: IpAddr, other: IpAddr, length: u8) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            let apart = one.to_bits() ^ other.to_bits();
            length == 0 || apart.leading_zeros() >= u32::from(length.min(32))
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            let apart = one.to_bits() ^ other.to_bits();
            length == 0 || apart.leading_zeros() >= u32::from(length.min(128))
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}
