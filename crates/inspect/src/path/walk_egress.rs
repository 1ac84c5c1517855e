//! How a packet leaves to the internet: what gives its machine an address there, and whether that has ports left.

use std::net::IpAddr;

use super::balancer::{Pool, Target};
use super::document::{Document, Missing};
use super::estate::{Nic, is_private};
use super::fault::{Cause, Fault, Object};
use super::flow::Wire;
use super::hop::{Effect, Hop, Kind};
use super::topology::Subnet;
use super::walk::Walk;

/// So many calls may fail at once where machines are added, and nothing is wrong.
const A_FEW: u64 = 5;

/// What a machine leaves by.
enum Exit {
    /// The NAT gateway of its subnet.
    Gateway(String),
    /// A public address of its own.
    Own,
    /// A load balancer that it is behind.
    Balancer(String),
    /// What the platform gives to subnets that do not say otherwise.
    Default,
    Nothing,
    /// It may be behind a load balancer.
    Open,
}

impl Walk<'_> {
    /// Follows a packet from an interface to the internet, and tells whether it gets there.
    pub(super) fn egress(&mut self, from: usize, wire: &Wire) -> bool {
        let estate = self.asked.estate;
        // A firewall of the platform leaves by addresses of its own.
        let leaves = |nic: &&Nic| (!nic.is_of_platform() || nic.cluster.is_some()) && !is_private(wire.dst);
        let Some(nic) = estate.nic(from).filter(leaves) else { return true };
        let place = nic.network.as_deref().zip(nic.subnet.as_deref());
        let subnet = place.and_then(|(network, subnet)| {
            let own = estate.network(network)?;
            own.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(subnet))
        });
        let (Some(subnet), Some((network, _))) = (subnet, place) else { return true };
        let mut hop = Hop::new(Kind::Egress, &nic.name).on(Document::Networks);
        if nic.cluster.is_some() && self.nodes_leave(from, &mut hop) {
            let is_stopped = !hop.stops.is_empty();
            self.push(hop);
            return !is_stopped;
        }
        match self.exit(nic, subnet) {
            Exit::Gateway(gateway) => self.gateway(&gateway, &mut hop),
            Exit::Own => hop.reason = format!("{} leaves by a public address of its own", nic.name),
            Exit::Balancer(balancer) => {
                hop.reason = format!("{} leaves by the load balancer {balancer}", nic.name);
                self.ports("loadbalancers", &balancer, &mut hop);
            }
            Exit::Default => {
                hop.reason = format!("{} leaves by the default access of its subnet", nic.name);
            }
            Exit::Open => {
                let why = format!(
                    "the subnet {} has no default access, and whether a load balancer leads out is not known",
                    subnet.name
                );
                hop.missing.push(Missing { what: Document::Frontends, why });
            }
            Exit::Nothing => {
                let object =
                    Object::SubnetOutbound { network: network.to_owned(), subnet: subnet.name.clone() };
                let cause = Cause::new(Fault::OutboundAbsent, object);
                if !self.is_gone(&cause) {
                    let why = format!(
                        "nothing leads from the subnet {} of {network} to the internet: no NAT gateway, no public address, no outbound rule, and no default access",
                        subnet.name
                    );
                    hop.stops.push(Effect::new(cause, why));
                }
            }
        }
        let is_stopped = !hop.stops.is_empty();
        self.push(hop);
        !is_stopped
    }

    /// Returns the addresses by which what an interface sends is seen outside; none where they are not known.
    pub(super) fn leaving(&self, nic: &Nic) -> Vec<IpAddr> {
        let estate = self.asked.estate;
        let place = nic.network.as_deref().zip(nic.subnet.as_deref());
        let subnet = place.and_then(|(network, subnet)| {
            let own = estate.network(network)?;
            own.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(subnet))
        });
        let Some(subnet) = subnet else { return Vec::new() };
        match self.exit(nic, subnet) {
            Exit::Gateway(name) => {
                let all = estate.gateways.read().into_iter().flatten();
                let mut own = all.filter(|own| own.name.eq_ignore_ascii_case(&name));
                own.next().map(|own| own.addresses.clone()).unwrap_or_default()
            }
            Exit::Own => nic.public.into_iter().collect(),
            Exit::Balancer(name) => {
                let all = estate.balancers.read().into_iter().flatten();
                let own = all.filter(|own| own.name.eq_ignore_ascii_case(&name));
                let frontends = own.flat_map(|own| &own.frontends).filter(|frontend| frontend.is_public);
                frontends.filter_map(|frontend| frontend.address).collect()
            }
            Exit::Default | Exit::Nothing | Exit::Open => Vec::new(),
        }
    }

    /// Finds what a machine leaves by, in the order in which the platform does.
    fn exit(&self, nic: &Nic, subnet: &Subnet) -> Exit {
        if let Some(gateway) = &subnet.nat {
            return Exit::Gateway(gateway.clone());
        }
        if nic.has_public || nic.public.is_some() {
            return Exit::Own;
        }
        let all = self.asked.estate.balancers.read();
        // A member that the rules of its load balancer keep from leaving by it has no default access either.
        let mut is_kept = false;
        for balancer in all.into_iter().flatten() {
            for pool in balancer.pools.iter().filter(|pool| holds(pool, nic)) {
                let is_out = balancer.outbound.iter().any(|own| own.eq_ignore_ascii_case(&pool.name));
                let public = balancer.rules.iter().filter(|rule| {
                    rule.to == Target::Pool(pool.name.clone()) && balancer.is_public(&rule.frontend)
                });
                let rules: Vec<bool> = public.map(|rule| rule.is_outbound_off).collect();
                if is_out || rules.contains(&false) {
                    return Exit::Balancer(balancer.name.clone());
                }
                is_kept |= !rules.is_empty();
            }
        }
        match (subnet.default_outbound, is_kept, all.is_some()) {
            (Some(false), _, false) => Exit::Open,
            (Some(false), ..) | (_, true, _) => Exit::Nothing,
            (Some(true) | None, false, _) => Exit::Default,
        }
    }

    fn gateway(&self, name: &str, hop: &mut Hop) {
        let all = &self.asked.estate.gateways;
        let Some(gateways) = all.read() else {
            let why = format!("whether the NAT gateway {name} has an address: {}", all.why_not());
            hop.missing.push(Missing { what: Document::Outbound, why });
            return;
        };
        hop.evidence.push(Document::Outbound);
        hop.reason = format!("it leaves by the NAT gateway {name}");
        let own = gateways.iter().find(|own| own.name.eq_ignore_ascii_case(name));
        if own.is_some_and(|own| !own.has_address) {
            let cause = Cause::new(Fault::NatUnconfigured, Object::NatGateway { name: name.to_owned() });
            if !self.is_gone(&cause) {
                let why = format!("the NAT gateway {name} has no public address to leave with");
                hop.stops.push(Effect::new(cause, why));
            }
            return;
        }
        self.ports("natgateways", name, hop);
    }

    /// Asks whether calls found no free port lately.
    fn ports(&self, kind: &str, name: &str, hop: &mut Hop) {
        let all = &self.asked.estate.failed;
        let Some(failed) = all.read() else {
            let why = format!("whether calls by {name} found no free port: {}", all.why_not());
            hop.missing.push(Missing { what: Document::Outbound, why });
            return;
        };
        let own =
            failed.iter().filter(|own| own.resource.0 == kind && own.resource.1.eq_ignore_ascii_case(name));
        let counts: Vec<u64> = own.map(|own| own.calls).collect();
        if counts.is_empty() {
            let why = format!("whether calls by {name} found no free port: nobody counted them");
            hop.missing.push(Missing { what: Document::Outbound, why });
            return;
        }
        if !hop.evidence.contains(&Document::Outbound) {
            hop.evidence.push(Document::Outbound);
        }
        let calls: u64 = counts.iter().sum();
        let cause = Cause::new(Fault::SnatExhausted, Object::SourceTranslation { name: name.to_owned() });
        if calls > A_FEW && !self.is_gone(&cause) {
            let why = format!("{calls} calls by {name} found no free port in the last hours");
            hop.shares.push(Effect::new(cause, why));
        }
    }
}

fn holds(pool: &Pool, nic: &Nic) -> bool {
    pool.members.iter().any(|member| {
        let by_name = member.nic.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(&nic.name));
        by_name || member.address.is_some_and(|address| nic.addresses.contains(&address))
    })
}
