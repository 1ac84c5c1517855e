//! A bastion host at the beginning of a path: it makes the connection to the machine, from its own subnet.

use std::net::IpAddr;

use ipnet::IpNet;

use super::bastion::Bastion;
use super::document::Document;
use super::estate::Estate;
use super::fault::{Cause, Fault, Object};
use super::flow::Protocol;
use super::hop::{Effect, Hop, Kind};
use super::kept_out::{KeptOut, PlatformService};
use super::walk::Walk;

impl Estate {
    /// Returns the names of the bastion hosts, each with the address from which its connections are judged: one of its subnet.
    pub fn bastions(&self) -> impl Iterator<Item = (&str, IpAddr)> {
        self.nics.iter().filter(|nic| nic.bastion.is_some()).filter_map(|nic| {
            let address = nic.addresses.first()?;
            Some((nic.name.as_str(), *address))
        })
    }

    /// Returns the bastion host whose connections are judged from an address, with its subnet.
    #[must_use]
    pub fn bastion_at(&self, address: IpAddr) -> Option<(&str, IpNet)> {
        let nic =
            self.owners(address).first().and_then(|at| self.nic(*at)).filter(|nic| nic.bastion.is_some())?;
        let subnet = self.network_of(address).and_then(|network| network.subnet_of(address))?;
        let prefix = subnet.prefixes.iter().find(|prefix| prefix.contains(&address))?;
        Some((nic.name.as_str(), *prefix))
    }

    /// Returns the names of bastion hosts that share a subnet of the platform: their flows are not judged.
    pub fn shared_bastions(&self) -> impl Iterator<Item = &str> {
        self.bastions.iter().filter(|own| own.subnet.is_none()).map(|own| own.name.as_str())
    }

    /// Tells whether a bastion host stands in the network of an address, or in one that is peered with it.
    #[must_use]
    pub fn serves(&self, bastion: &str, address: IpAddr) -> bool {
        let nic = self.nics.iter().find(|nic| nic.bastion.is_some() && nic.name == bastion);
        let own = nic.and_then(|nic| nic.network.as_deref());
        let theirs = self.owners(address).first().and_then(|at| self.nic(*at)?.network.as_deref());
        own.zip(theirs).is_some_and(|(own, theirs)| {
            let is_peered = self.network(own).is_some_and(|network| network.peering_with(theirs).is_some());
            own.eq_ignore_ascii_case(theirs) || is_peered
        })
    }
}

impl Walk<'_> {
    /// Asks whether the bastion host that an interface stands for can make the connection at all.
    pub(super) fn by_bastion(&mut self, from: usize) {
        let estate = self.asked.estate;
        let place = estate.nic(from).and_then(|nic| nic.bastion);
        let Some(own) = place.and_then(|place| estate.bastions.get(place)) else { return };
        let mut hop = Hop::new(Kind::Bastion, &own.name).on(Document::Bastions);
        if self.asked.flow.protocol == Protocol::Tcp {
            hop.reason = format!("the bastion host {} ({}) makes the connection", own.name, own.sku);
        } else {
            let what = format!("{} by the bastion host {}", self.asked.flow.protocol, own.name);
            hop = hop.lacking(Document::Probe { what }, "a bastion host makes connections by TCP alone");
        }
        self.closed_to_bastion(from, own, &mut hop);
        self.features(own, &mut hop);
        match own.state.as_deref() {
            None => hop = hop.lacking(Document::Bastions, estate.bastion_list.why_not()),
            Some(state) if state.eq_ignore_ascii_case("succeeded") => {}
            Some(state) => {
                let what = format!("the bastion host {}", own.name);
                hop = hop.lacking(Document::Probe { what }, format!("its provisioning state is {state}"));
            }
        }
        self.push(hop);
    }

    /// Names the rules of its subnet's group without which it does not work.
    fn closed_to_bastion(&self, from: usize, own: &Bastion, hop: &mut Hop) {
        let nic = self.asked.estate.nic(from);
        let Some((group, closed)) = nic.and_then(|nic| nic.closed.as_ref()) else { return };
        for one in closed {
            let cause =
                Cause::new(Fault::NsgDeny, Object::NsgRule { group: group.clone(), rule: one.rule.clone() });
            if self.is_gone(&cause) || hop.stops.iter().any(|known| known.cause == cause) {
                continue;
            }
            let service = PlatformService::Bastion(own.name.clone());
            let why = KeptOut::new(service, &one.needed).reason(group, &one.rule);
            hop.stops.push(Effect { catches_all: true, ..Effect::new(cause, why) });
        }
    }

    /// Names what its tier or a setting does not let people do who want it.
    fn features(&self, own: &Bastion, hop: &mut Hop) {
        let asked = self.asked;
        let cause = Cause::new(Fault::BastionUnconfigured, Object::Bastion { bastion: own.name.clone() });
        if self.is_gone(&cause) {
            return;
        }
        let is_nobodys = asked.estate.owners(asked.flow.dst).is_empty();
        let name = &own.name;
        if asked.flow.by_client && own.tunneling == Some(false) {
            let why = format!(
                "the bastion host {name} ({}) lets no client of people's own pass: tunneling is off",
                own.sku
            );
            hop.stops.push(Effect::new(cause, why));
        } else if is_nobodys && own.ip_connect == Some(false) {
            let why = format!(
                "the bastion host {name} ({}) does not connect to addresses: IP-based connection is off, and no machine that is listed has {}",
                own.sku, asked.flow.dst
            );
            hop.stops.push(Effect::new(cause, why));
        }
    }
}
