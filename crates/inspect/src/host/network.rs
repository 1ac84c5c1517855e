//! Machines that are judged together: who owns an address, who is at the other end of a cable.

use std::net::IpAddr;

use super::context::{Context, Expected};
use super::link::{Address, Link};
use super::model::Host;

/// All machines that were gathered, with what is asked about them.
pub(super) struct Network<'a> {
    pub(super) hosts: &'a [Host],
    pub(super) context: &'a Context,
}

impl<'a> Network<'a> {
    /// Returns a machine by its name.
    pub(super) fn host(&self, name: &str) -> Option<&'a Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Returns the machines that have an address, with the device.
    pub(super) fn owners(&self, ip: IpAddr) -> Vec<(&'a Host, &'a Address)> {
        let own =
            |host: &'a Host| host.addresses.rows().iter().find(|own| own.ip() == ip).map(|own| (host, own));
        self.hosts.iter().filter_map(own).filter(|(_, own)| !own.ip().is_loopback()).collect()
    }

    /// Returns the machine that is known to have an address, whether it has it or not.
    pub(super) fn expected_owner(&self, ip: IpAddr) -> Option<(&'a Host, &'a str)> {
        self.context.expected.iter().find_map(|expected| match expected {
            Expected::Address { host, device, net } if net.addr() == ip => {
                Some((self.host(host)?, device.as_str()))
            }
            Expected::Address { .. }
            | Expected::Name { .. }
            | Expected::Resolver { .. }
            | Expected::DhcpServer { .. } => None,
        })
    }

    /// Returns the other end of a virtual cable, where exactly one device fits.
    pub(super) fn peer(&self, host: &Host, link: &Link) -> Option<(&'a Host, &'a Link)> {
        let other = link.link_index?;
        let mut fitting = self.hosts.iter().filter(|one| one.name != host.name).flat_map(|one| {
            let ends = one.links.rows().iter().filter(|end| {
                end.ifindex == other && end.link_index == Some(link.ifindex) && end.kind() == link.kind()
            });
            ends.map(move |end| (one, end))
        });
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }

    /// Returns other machines that have an address of the same segment, with it.
    pub(super) fn segment(&self, host: &Host, of: &Address) -> Vec<(&'a Host, &'a Address)> {
        let near = |other: &&Address| {
            other.is_global()
                && (other.net.contains(&of.ip()) || of.net.contains(&other.ip()))
                && other.ip() != of.ip()
        };
        let others = self.hosts.iter().filter(|one| one.name != host.name);
        others.flat_map(|one| one.addresses.rows().iter().filter(near).map(move |own| (one, own))).collect()
    }

    /// Returns machines that answer for names, as far as their listeners are known.
    pub(super) fn name_servers(&self) -> impl Iterator<Item = &'a Host> {
        self.hosts.iter().filter(|host| {
            let listens =
                |own: &super::socket::Listener| own.protocol == "udp" && own.port == 53 && !own.is_local();
            host.listeners.rows().iter().any(listens)
        })
    }
}
