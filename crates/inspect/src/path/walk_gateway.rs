//! A gateway to another site on the path: whether a connection leads on, and whether it is up.

use std::net::IpAddr;

use super::document::Document;
use super::fault::{Cause, Fault, Object};
use super::flow::Wire;
use super::gateway::{Connection, Remote, Status, Towards, VirtualGateways};
use super::hop::{Effect, Hop, Kind};
use super::walk::{Arrived, Walk};

/// What becomes of a packet at a gateway.
enum Passed {
    /// It goes on to another network of the estate.
    Inside,
    /// It goes on to a site.
    On,
    /// It does not.
    Not,
}

impl Walk<'_> {
    /// Takes a packet that leaves by the gateway of an interface.
    pub(super) fn by_gateway(&mut self, from: usize, wire: &Wire, fresh: bool) -> Option<Arrived> {
        let estate = self.asked.estate;
        let network = estate.nic(from).and_then(|nic| estate.gateway_network(nic));
        let Some(network) = network.filter(|_| fresh) else { return self.outside(wire, fresh) };
        let at = estate.nics.iter().position(|nic| {
            nic.is_gateway
                && nic.network.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(&network.name))
        });
        match self.pass_gateway(&network.name, wire.dst) {
            Passed::Not => return None,
            Passed::Inside => {
                let to = self.holder(None, wire)?;
                return self.through(to, *wire, fresh);
            }
            Passed::On => self.left = at.map(|at| (at, *wire)),
        }
        self.outside(wire, fresh)
    }

    /// Takes a packet in that comes from a site.
    pub(super) fn enter_by_gateway(&mut self, gateway: usize, wire: Wire) -> Option<Arrived> {
        let network = self.asked.estate.nic(gateway).and_then(|nic| nic.network.clone())?;
        // What is down is named, and the packet goes on as if it were not.
        self.pass_gateway(&network, wire.src);
        self.transit(gateway, wire, true)
    }

    /// Asks the gateway of a network for the connection to somebody.
    fn pass_gateway(&mut self, network: &str, remote: IpAddr) -> Passed {
        let estate = self.asked.estate;
        let Some(known) = estate.virtual_gateways.read() else {
            let why =
                format!("whether a connection leads to {remote}: {}", estate.virtual_gateways.why_not());
            self.push(Hop::new(Kind::Gateway, network).lacking(Document::Gateways, why));
            return Passed::On;
        };
        let name = known.of(network).first().map_or(network, |own| own.name.as_str());
        let mut hop = Hop::new(Kind::Gateway, name).on(Document::Gateways);
        let networks = estate.networks.read().map(Vec::as_slice).unwrap_or_default();
        let passed = match known.towards(network, remote, networks) {
            Towards::Held(connections) => self.connected(known, &connections, &mut hop),
            Towards::Cause(fault, object, why) => self.stopped(Cause::new(fault, object), why, &mut hop),
            Towards::Open(why) => {
                hop = hop.lacking(Document::Gateways, why);
                Passed::On
            }
            Towards::Nothing => {
                let why = format!("no connection of {name} leads to {remote}");
                self.stopped(Cause::new(Fault::NoPath, Object::flow(self.asked.flow)), why, &mut hop)
            }
        };
        self.push(hop);
        passed
    }

    /// Asks whether one of some connections to the same prefix is up.
    fn connected(&self, known: &VirtualGateways, all: &[&Connection], hop: &mut Hop) -> Passed {
        if let Some(up) = all.iter().find(|own| own.status == Status::Connected) {
            hop.reason = format!("the connection {} is {}", up.name, up.written);
            return match up.remote {
                Remote::Gateway(_) => Passed::Inside,
                Remote::Site(_) | Remote::Circuit(_) => Passed::On,
            };
        }
        if let Some(open) = all.iter().find(|own| own.status == Status::Unknown) {
            let why = format!("whether the connection {} is up: it is {}", open.name, open.written);
            hop.missing.push(super::document::Missing { what: Document::Gateways, why });
            return Passed::On;
        }
        let Some(first) = all.first() else { return Passed::On };
        let (fault, object, why) = known.down(first);
        self.stopped(Cause::new(fault, object), why, hop)
    }

    fn stopped(&self, cause: Cause, why: String, hop: &mut Hop) -> Passed {
        if self.is_gone(&cause) {
            "as if the connection were up".clone_into(&mut hop.reason);
            return Passed::On;
        }
        hop.stops.push(Effect::new(cause, why));
        Passed::Not
    }

    /// Names the site whose addresses lie inside of the network: what is for it never leaves.
    pub(super) fn overlap(&mut self, wire: &Wire) -> bool {
        let estate = self.asked.estate;
        let is_known = estate.interfaces.read().is_some() && estate.balancers.read().is_some();
        let Some(known) = estate.virtual_gateways.read().filter(|_| is_known) else { return false };
        let Some(network) = estate.network_of(wire.dst) else { return false };
        let holds = |connection: &&Connection| {
            known.site(connection).is_some_and(|site| {
                site.prefixes.iter().any(|prefix| prefix.prefix_len() > 0 && prefix.contains(&wire.dst))
            })
        };
        let connection = known.connections.read().into_iter().flatten().find(holds);
        let Some(site) = connection.and_then(|connection| known.site(connection)) else { return false };
        let cause = Cause::new(Fault::VpnPrefixOverlap, Object::LocalGateway { name: site.name.clone() });
        if self.is_gone(&cause) {
            return false;
        }
        let why = format!(
            "the network {} and the site {} both have {}: packets for it stay in the network, where nobody has it",
            network.name, site.name, wire.dst
        );
        let hop = Hop::new(Kind::Gateway, &site.name).on(Document::Gateways);
        self.push(hop.stopped(Effect::new(cause, why)));
        true
    }
}
