//! Sites behind gateways: who is there, and whether a connection leads to them.

use std::net::IpAddr;

use super::internet::ExternalHost;
use crate::host::fabric::{Fabric, Nic, Site};

/// There and back, in microseconds, and the routers between.
const ROUND: u32 = 9_000;
const HOPS: u8 = 3;

/// Returns who has an address at some site.
pub(super) fn site_host(fabric: &Fabric, address: IpAddr) -> Option<ExternalHost> {
    let mut hosts = fabric.sites.iter().flat_map(|site| &site.hosts);
    let own = hosts.find(|host| host.address == address)?;
    let ports = own.ports.clone();
    Some(ExternalHost {
        echoes: true,
        ports,
        names: false,
        account: None,
        round: ROUND,
        hops: HOPS,
        is_at_site: true,
    })
}

/// Tells whether a connection of the gateway that an interface uses is up and leads to an address.
pub(super) fn is_open(fabric: &Fabric, nic: &Nic, to: IpAddr) -> bool {
    let Some(network) = &nic.gateway else { return false };
    let longest = |site: &&Site| {
        let holding = site.prefixes.iter().filter(|prefix| prefix.contains(&to));
        holding.map(ipnet::IpNet::prefix_len).max()
    };
    let own: Vec<(u8, &Site)> = fabric
        .sites
        .iter()
        .filter(|site| site.network == *network)
        .filter_map(|site| Some((longest(&site)?, site)))
        .collect();
    let best = own.iter().map(|(length, _)| *length).max();
    own.iter().any(|(length, site)| Some(*length) == best && site.is_up)
}

/// Returns what stands for the gateway by which packets of somebody at a site come in.
pub(super) fn came_by(fabric: &Fabric, from: IpAddr) -> Option<Nic> {
    let is_there = |site: &&Site| site.is_up && site.hosts.iter().any(|host| host.address == from);
    fabric.sites.iter().find(is_there).map(|site| site.gateway.clone())
}
