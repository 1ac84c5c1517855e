//! Whose an address is, as it is seen from a network: networks may use the same addresses, and only a peering leads from one to another.
//! Goes in: an address and a network. Comes out: who has it as that network sees it. Never: somebody in a network that is not seen from it.

use std::net::IpAddr;

use super::balancer::{Balancer, Frontend};
use super::distinct::plain_name;
use super::estate::{Estate, Machine, Nic};
use super::naming::Endpoint;
use super::topology::Network;

impl Estate {
    /// Tells whether somebody in a network sees another one: its own, or one that it has a peering with. What is not known is seen.
    pub(super) fn sees(&self, own: Option<&str>, theirs: Option<&str>) -> bool {
        let (Some(own), Some(theirs)) = (own, theirs) else { return true };
        let is_peered = || self.network(own).is_none_or(|network| network.peering_with(theirs).is_some());
        own.eq_ignore_ascii_case(theirs) || is_peered()
    }

    /// Returns those who have an address as it is seen from a network. An address of that network itself leads nowhere else.
    fn seen<T>(&self, own: Option<&str>, address: IpAddr, all: Vec<(T, Option<String>)>) -> Vec<T> {
        let is_own = own.and_then(|own| self.network(own)).is_some_and(|network| network.contains(address));
        let (near, far): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, theirs)| self.sees(own, theirs.as_deref()));
        let found = if near.is_empty() && !is_own { far } else { near };
        found.into_iter().map(|(one, _)| one).collect()
    }

    /// Returns the interfaces that have an address as it is seen from a network.
    pub(super) fn owners_seen(&self, own: Option<&str>, address: IpAddr) -> Vec<usize> {
        let network = |at: &usize| self.nic(*at).and_then(|nic| nic.network.clone());
        self.seen(own, address, self.owners(address).iter().map(|at| (*at, network(at))).collect())
    }

    /// Returns the only interface that has an address as it is seen from a network; nothing where several may be meant.
    pub(super) fn owner_seen(&self, own: Option<&str>, address: IpAddr) -> Option<usize> {
        match self.owners_seen(own, address).as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Returns the load balancer that takes connections at an address as it is seen from a network.
    pub(super) fn frontend_seen(&self, own: Option<&str>, address: IpAddr) -> Option<(&Balancer, &Frontend)> {
        let all = self.balancers.read()?.iter().flat_map(|one| {
            one.frontends
                .iter()
                .filter(|frontend| frontend.address == Some(address))
                .map(move |frontend| (one, frontend))
        });
        let all = all.map(|(one, frontend)| ((one, frontend), frontend.network.clone()));
        self.seen(own, address, all.collect()).into_iter().next()
    }

    /// Returns the private endpoint that has an address as it is seen from a network.
    pub(super) fn endpoint_seen(&self, own: Option<&str>, address: IpAddr) -> Option<&Endpoint> {
        let all = self.names.read()?.endpoints.iter().filter(|one| one.addresses.contains(&address));
        self.seen(own, address, all.map(|one| (one, one.network.clone())).collect()).into_iter().next()
    }

    /// Returns the network of which an address is as it is seen from a network.
    pub(super) fn network_seen(&self, own: Option<&str>, address: IpAddr) -> Option<&Network> {
        let near = own.and_then(|own| self.network(own)).filter(|network| network.contains(address));
        let all = || self.networks.read().into_iter().flatten().filter(|network| network.contains(address));
        near.or_else(|| all().find(|network| self.sees(own, Some(&network.name)))).or_else(|| all().next())
    }

    /// Returns the machine of a name: its own, or the one that it shares with others of its kind, where no other one is listed.
    pub(super) fn machine_named(&self, name: &str) -> Option<&Machine> {
        let own = self.machines.iter().find(|own| own.name.eq_ignore_ascii_case(name));
        own.or_else(|| {
            let mut alike =
                self.machines.iter().filter(|own| plain_name(&own.name).eq_ignore_ascii_case(name));
            alike.next().filter(|_| alike.next().is_none())
        })
    }

    /// Returns the machines of several resource groups that share a name, each with its group.
    #[must_use]
    pub fn machines_called(&self, name: &str) -> Vec<&str> {
        let alike = self.machines.iter().filter(|own| plain_name(&own.name).eq_ignore_ascii_case(name));
        alike.map(|own| own.name.as_str()).collect()
    }

    /// Tells whether an interface belongs to a machine of a name.
    pub(super) fn is_of(&self, nic: usize, machine: &str) -> bool {
        let named = self.machine_named(machine);
        let own = self.machine_of(nic);
        named.zip(own).is_some_and(|(named, (_, own))| named.name == own.name)
    }

    /// Returns the network of an interface.
    pub(super) fn network_at(&self, nic: usize) -> Option<&str> {
        self.nic(nic).and_then(|nic: &Nic| nic.network.as_deref())
    }
}
