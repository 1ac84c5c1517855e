//! What leads to machines by load balancers and application gateways, for whoever asks an estate.

use std::net::IpAddr;

use super::balancer::{self, Balancer, Frontend};
use super::estate::Estate;
use super::flow::Protocol;

impl Estate {
    /// Returns the names of the load balancers and application gateways, each with the addresses of its frontends and the ports that its
    /// rules take there.
    pub fn balancers(&self) -> impl Iterator<Item = (&str, Vec<IpAddr>, Vec<(Protocol, u16)>)> {
        let gateways = self.app_gateways.read().into_iter().flatten().map(|own| {
            let addresses = own.frontends.iter().filter_map(|frontend| frontend.address).collect();
            let mut ports: Vec<(Protocol, u16)> =
                own.listeners.iter().map(|listener| (Protocol::Tcp, listener.port)).collect();
            ports.sort_unstable();
            ports.dedup();
            (own.name.as_str(), addresses, ports)
        });
        let balancers = self.balancers.read().into_iter().flatten().map(|own| {
            let addresses = own.frontends.iter().filter_map(|frontend| frontend.address).collect();
            let ports = own.rules.iter().filter(|rule| rule.port != 0);
            let ports = ports.map(|rule| (rule.protocol.unwrap_or(Protocol::Tcp), rule.port)).collect();
            (own.name.as_str(), addresses, ports)
        });
        balancers.chain(gateways)
    }

    /// Returns the names of the application gateways.
    pub fn application_gateways(&self) -> impl Iterator<Item = &str> {
        self.app_gateways.read().into_iter().flatten().map(|own| own.name.as_str())
    }

    /// Returns the interfaces and machines behind a load balancer or an application gateway.
    #[must_use]
    pub fn members_of(&self, balancer: &str) -> Vec<(&str, &str)> {
        let all = self.balancers.read().into_iter().flatten();
        let own = all.filter(|own| own.name.eq_ignore_ascii_case(balancer));
        let members = own.flat_map(|own| &own.pools).flat_map(|pool| &pool.members);
        let nic = |member: &balancer::Member| {
            let by_address =
                member.address.and_then(|address| self.owner_seen(member.network.as_deref(), address));
            by_address.or_else(|| {
                let name = member.nic.as_deref()?;
                self.nics.iter().position(|nic| nic.name.eq_ignore_ascii_case(name))
            })
        };
        let mut found: Vec<(&str, &str)> = Vec::new();
        for at in members.filter_map(nic) {
            let place = self.nic(at).zip(self.machine_of(at));
            let place = place.map(|(nic, (_, machine))| (nic.name.as_str(), machine.name.as_str()));
            found.extend(place.filter(|place| !found.contains(place)));
        }
        found.extend(self.behind_app_gateway(balancer));
        found
    }

    /// Returns what leads to a port of a machine by a load balancer: address and port of each frontend.
    #[must_use]
    pub fn frontends_of(&self, machine: &str, port: Option<u16>) -> Vec<(IpAddr, Protocol, u16)> {
        let mut found = Vec::new();
        for own in self.balancers.read().into_iter().flatten() {
            if !self.members_of(&own.name).iter().any(|(_, name)| name.eq_ignore_ascii_case(machine)) {
                continue;
            }
            for rule in own.rules.iter().filter(|rule| rule.port != 0) {
                let frontend = own.frontends.iter().find(|one| one.name.eq_ignore_ascii_case(&rule.frontend));
                let fits = port.is_none_or(|port| port == rule.port || port == rule.backend_port);
                let address = frontend.and_then(|frontend| frontend.address).filter(|_| fits);
                found.extend(
                    address.map(|address| (address, rule.protocol.unwrap_or(Protocol::Tcp), rule.port)),
                );
            }
        }
        found
    }

    /// Returns the load balancer that takes connections at an address.
    pub(super) fn frontend(&self, address: IpAddr) -> Option<(&Balancer, &Frontend)> {
        self.balancers.read()?.iter().find_map(|own| {
            let frontend = own.frontends.iter().find(|frontend| frontend.address == Some(address))?;
            Some((own, frontend))
        })
    }
}
