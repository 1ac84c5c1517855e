//! What comes in from the internet, and by which public address: of a machine, a load balancer, an application gateway, a firewall.
//!
//! Goes in: a packet with an address outside at one end. Comes out: the machine to which a public address leads it. Never: a private address
//! that is called from outside although nothing public leads to it.

use std::net::IpAddr;

use super::app_gateway::AppGateway;
use super::balancer::{Balancer, Rule, Sku, Target};
use super::carry::Asked;
use super::document::{Document, Missing};
use super::estate::{Estate, Nic, is_private};
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Protocol, PublicEntry, Wire};
use super::hop::{Effect, Hop, Kind};
use super::judge::Judgement;
use super::walk::{Arrived, Undo, Walk};
use crate::net::Platform;
use crate::nsg::{Gate, Ruleset};

/// The subnet without which a network has no firewall of the platform.
const FIREWALLS: &str = "AzureFirewallSubnet";

/// Tells whether a packet to the internet comes back to the estate: a public address of it is called.
pub(super) fn estate_public(asked: Asked<'_>, wire: &Wire) -> bool {
    asked.estate.is_public_end(wire.dst)
}

impl Estate {
    /// Tells whether an address on the internet is one of the estate.
    pub(super) fn is_public_end(&self, address: IpAddr) -> bool {
        let is_frontend = || self.frontend(address).is_some_and(|(_, frontend)| frontend.is_public);
        self.public(address).is_some() || self.public_firewall(address).is_some() || is_frontend()
    }

    /// Tells whether an address is one that only the estate itself knows.
    fn is_hidden(&self, address: IpAddr) -> bool {
        let is_known = || !self.owners(address).is_empty() || self.network_of(address).is_some();
        !self.is_public_end(address) && (is_private(address) || is_known())
    }

    /// Tells whether a firewall of the platform may be there.
    fn may_have_firewall(&self) -> bool {
        let subnets = self.networks.read().map(|all| all.iter().flat_map(|network| &network.subnets));
        subnets.is_none_or(|mut all| all.any(|subnet| subnet.name.eq_ignore_ascii_case(FIREWALLS)))
    }
}

/// A flow from outside that ends where another one is asked about, and what it comes in by.
struct Entrance {
    by: String,
    /// The flow to its public address; nothing where that is not known.
    flow: Option<Flow>,
}

impl Walk<'_> {
    /// Takes a packet from outside to the interface that has its destination.
    pub(super) fn enter(&mut self, mut wire: Wire) -> Option<Arrived> {
        let Asked { estate, flow, .. } = self.asked;
        let is_outside =
            !is_private(wire.src) && Platform::of(wire.src).is_none() && !estate.is_inside(wire.src);
        if is_outside
            && !flow.is_let_in
            && wire.dst == flow.dst
            && estate.is_hidden(wire.dst)
            && !self.let_in(&wire)
        {
            return None;
        }
        if let Some(entry) = self.public_entry(wire.dst) {
            self.entry = Some(entry);
        }
        let nic = match estate.public(wire.dst) {
            Some(nic) => {
                // The platform translates a public address before anything else sees the packet.
                let before = wire;
                wire.dst = estate.behind_public(wire.dst).unwrap_or(wire.dst);
                if let Some((machine, _)) = estate.machine_of(nic) {
                    self.translated.push(Undo { machine, before, after: wire });
                }
                Some(nic)
            }
            None => match estate.public_firewall(wire.dst) {
                Some(firewall) => Some(firewall),
                None if self.terminated(None, &wire) => return None,
                None => {
                    wire = self.balanced(None, wire)?;
                    self.holder(None, &wire)
                }
            },
        }?;
        self.through(nic, wire, true)
    }

    /// Takes a packet that left to the internet back in by the public address that it goes to.
    pub(super) fn around(&mut self, from: usize, wire: Wire) -> Option<Arrived> {
        let seen = self.seen_outside(from, &wire);
        let arrived = self.enter(seen);
        self.around = arrived.is_some().then_some(wire);
        arrived
    }

    /// Finds the interface that is meant where the question names the machine. Nothing where it names none; nobody where the machine is in a
    /// network that is not seen from here.
    pub(super) fn meant(&mut self, own: Option<&str>, near: &[usize], wire: &Wire) -> Option<Option<usize>> {
        let Asked { estate, flow, .. } = self.asked;
        let named = flow.called.as_deref().filter(|_| wire.dst == flow.dst)?;
        let owners = estate.owners(wire.dst);
        let meant = *owners.iter().find(|at| estate.is_of(**at, named))?;
        if near.contains(&meant) {
            return Some(Some(meant));
        }
        let (own, theirs) = own.zip(estate.network_at(meant))?;
        let cause = Cause::new(Fault::NoPath, Object::flow(flow));
        if self.is_gone(&cause) {
            return Some(Some(meant));
        }
        let why = format!(
            "{} of {own} stays in that network: {named} is in {theirs}, which uses the same addresses and is not peered with it",
            wire.dst
        );
        let hop = Hop::new(Kind::Machine, named).on(Document::Networks);
        self.push(hop.stopped(Effect::new(cause, why)));
        Some(None)
    }

    /// Returns by what a packet to a public address comes in, where that is a machine's or a load balancer's.
    fn public_entry(&self, address: IpAddr) -> Option<PublicEntry> {
        let Asked { estate, flow, .. } = self.asked;
        if let Some(nic) = estate.public(address).and_then(|at| estate.nic(at)) {
            return Some(self.entry_of(nic));
        }
        let (balancer, frontend) = estate.frontend(address).filter(|(_, own)| own.is_public)?;
        let by = format!("the load balancer {}", balancer.name);
        let cause = Cause::new(Fault::NoPath, Object::flow(flow));
        Some(PublicEntry { by, sku: balancer.sku.or(|| frontend.sku), cause })
    }

    fn entry_of(&self, nic: &Nic) -> PublicEntry {
        let by = format!("the public address of {}", nic.name);
        let cause = Cause::new(Fault::NoPath, Object::flow(self.asked.flow));
        PublicEntry { by, sku: nic.sku, cause }
    }

    /// Says what becomes of a packet from the internet where neither the subnet nor the interface has a security group: Azure lets it in by
    /// a Basic address and keeps it out by a Standard one.
    pub(super) fn closed_by_default(&self, entry: &PublicEntry, rules: &Ruleset, hop: &mut Hop) {
        if rules.groups().iter().any(|group| group.gate != Gate::Manager) {
            return;
        }
        let by = &entry.by;
        match entry.sku {
            Sku::Basic => {}
            Sku::Standard if rules.groups().is_empty() => {
                if !self.is_gone(&entry.cause) {
                    let why = format!(
                        "{by} is Standard, and without a security group at the subnet or the interface Azure lets nothing in"
                    );
                    hop.stops.push(Effect::new(entry.cause.clone(), why));
                }
            }
            Sku::Standard => {
                let why = format!(
                    "whether a rule of the network manager opens {by}, which is Standard, without a security group"
                );
                hop.missing.push(Missing { what: Document::Frontends, why });
            }
            Sku::Unknown => {
                let why = format!(
                    "whether {by} is Basic or Standard: without a security group Azure lets in everything by the one and nothing by the other"
                );
                hop.missing.push(Missing { what: Document::Frontends, why });
            }
        }
    }

    /// Tells whether a private address is called from outside by a public one of its own; what leads there otherwise is followed instead.
    fn let_in(&mut self, wire: &Wire) -> bool {
        let Asked { estate, flow, .. } = self.asked;
        let named = |at: &&usize| flow.called.as_deref().is_none_or(|name| estate.is_of(**at, name));
        let owners: Vec<usize> = estate.owners(wire.dst).iter().filter(named).copied().collect();
        let is_private_frontend =
            estate.frontend(wire.dst).is_some() || estate.app_frontend(wire.dst).is_some();
        if owners.is_empty() && !is_private_frontend {
            return true;
        }
        let has_public =
            |at: &&usize| estate.nic(**at).is_some_and(|nic| nic.has_public || nic.is_of_platform());
        if let Some(own) = owners.iter().find(has_public) {
            self.entry = estate.nic(*own).map(|nic| self.entry_of(nic));
            return true;
        }
        let entrances = self.entrances(wire, &owners);
        let mut unread = self.unread_entrances(wire.dst);
        for entrance in entrances.iter().filter(|entrance| entrance.flow.is_none()) {
            let why =
                format!("the public address of {}, which leads to {}, is not known", entrance.by, wire.dst);
            unread.push(Missing { what: Document::Frontends, why });
        }
        let judged = entrances.iter().filter_map(|entrance| {
            let flow = entrance.flow.as_ref()?;
            Some((entrance, estate.judge_without(flow, self.asked.gone)))
        });
        let weight =
            |judged: &Judgement| (judged.stops().len(), judged.missing().len(), judged.hurts().len());
        let best = judged.min_by_key(|(_, judged)| weight(judged));
        let mut hop = Hop::new(Kind::Outside, &wire.dst.to_string());
        // What stops one of them decides only where every other one was looked for.
        if let Some((entrance, best)) = best.filter(|(_, best)| unread.is_empty() || best.stops().is_empty())
        {
            hop.reason = format!("it comes in by {}", entrance.by);
            self.push(hop.on(Document::Frontends));
            let Judgement { mut forward, mut back, .. } = best;
            self.forward.append(&mut forward);
            self.back.append(&mut back);
            return false;
        }
        let cause = Cause::new(Fault::NoPath, Object::flow(flow));
        let is_closed = unread.is_empty();
        hop.missing = unread;
        if is_closed && self.is_gone(&cause) {
            return true;
        }
        if is_closed {
            let why = format!(
                "nothing public leads to {}: it has no public address, and no load balancer, application gateway or firewall takes it there",
                wire.dst
            );
            hop = hop.on(Document::Interfaces).stopped(Effect::new(cause, why));
        }
        self.push(hop);
        false
    }

    /// The lists that may show what leads to an address from outside, and were not read.
    fn unread_entrances(&self, to: IpAddr) -> Vec<Missing> {
        let estate = self.asked.estate;
        let mut found = Vec::new();
        let mut lacking = |what: Document, of: &str, why_not: String| {
            found.push(Missing {
                what,
                why: format!("whether a public address of {of} leads to {to}: {why_not}"),
            });
        };
        if estate.balancers.read().is_none() {
            lacking(Document::Frontends, "a load balancer", estate.balancers.why_not());
        } else if estate.app_gateways.read().is_none() {
            lacking(Document::Frontends, "an application gateway", estate.app_gateways.why_not());
        }
        if estate.may_have_firewall() {
            match estate.firewalls.read() {
                None => lacking(Document::Firewalls, "a firewall", estate.firewalls.why_not()),
                Some(all) => {
                    if let Some(own) = all.iter().find(|own| own.rules.read().is_none()) {
                        lacking(Document::Firewalls, &own.name, own.rules.why_not());
                    }
                }
            }
        }
        found
    }

    /// The flows from outside that end where a packet to a private address would.
    fn entrances(&self, wire: &Wire, owners: &[usize]) -> Vec<Entrance> {
        let estate = self.asked.estate;
        let mut found = Vec::new();
        for balancer in estate.balancers.read().into_iter().flatten() {
            found.extend(balancer.rules.iter().filter_map(|rule| self.by_rule(balancer, rule, wire, owners)));
        }
        for gateway in estate.app_gateways.read().into_iter().flatten() {
            found.extend(self.by_listener(gateway, wire, owners));
        }
        for firewall in estate.firewalls.read().into_iter().flatten() {
            let rules = firewall.rules.read().into_iter().flatten();
            let rules = rules.flat_map(|collection| &collection.rules);
            for port in rules.filter_map(|rule| rule.leads_to(wire.dst, wire.dport)) {
                let by = format!("the firewall {}", firewall.name);
                let is_family = |own: &&IpAddr| own.is_ipv4() == wire.src.is_ipv4();
                let public = firewall.publics.iter().find(is_family);
                let flow = public.and_then(|to| Flow::new(wire.src, *to, wire.protocol, Some(port)).ok());
                found.push(Entrance { by, flow });
            }
        }
        found
    }

    fn by_rule(&self, balancer: &Balancer, rule: &Rule, wire: &Wire, owners: &[usize]) -> Option<Entrance> {
        let estate = self.asked.estate;
        let asked = wire.dport?;
        let frontend = balancer
            .frontends
            .iter()
            .find(|own| own.is_public && own.name.eq_ignore_ascii_case(&rule.frontend))?;
        let is_owner = |nic: Option<&str>, address: Option<IpAddr>| {
            let by_name = nic.is_some_and(|name| {
                owners.iter().filter_map(|at| estate.nic(*at)).any(|own| own.name.eq_ignore_ascii_case(name))
            });
            by_name || address == Some(wire.dst)
        };
        let leads = match &rule.to {
            Target::Nic(nic) => is_owner(Some(nic), None),
            Target::Pool(pool) => {
                let members = balancer.pool(pool).into_iter().flat_map(|pool| &pool.members);
                members.into_iter().any(|own| is_owner(own.nic.as_deref(), own.address))
            }
            Target::Nowhere => false,
        };
        let fits = rule.backend_port == asked || rule.backend_port == 0;
        let is_spoken = rule.protocol.is_none_or(|own| own == wire.protocol);
        let port = if rule.port == 0 { asked } else { rule.port };
        if !(leads && fits && is_spoken) {
            return None;
        }
        let flow = match frontend.address {
            Some(to) => Some(Flow::new(wire.src, to, wire.protocol, Some(port)).ok()?),
            None => None,
        };
        Some(Entrance { by: format!("the load balancer {}", balancer.name), flow })
    }

    fn by_listener(&self, gateway: &AppGateway, wire: &Wire, owners: &[usize]) -> Vec<Entrance> {
        let estate = self.asked.estate;
        let mut found = Vec::new();
        if wire.protocol != Protocol::Tcp {
            return found;
        }
        for listener in &gateway.listeners {
            let frontend = gateway
                .frontends
                .iter()
                .find(|own| own.is_public && own.name.eq_ignore_ascii_case(&listener.frontend));
            let targets = gateway.rule(listener).map(|rule| rule.targets.as_slice()).unwrap_or_default();
            let leads = targets.iter().any(|target| {
                let servers =
                    gateway.pool(&target.pool).map(|pool| pool.servers.as_slice()).unwrap_or_default();
                let is_port = gateway.settings(target).is_some_and(|own| Some(own.port) == wire.dport);
                is_port
                    && servers.iter().any(|server| {
                        let by_name = server.nic.as_deref().is_some_and(|name| {
                            let mut own = owners.iter().filter_map(|at| estate.nic(*at));
                            own.any(|own| own.name.eq_ignore_ascii_case(name))
                        });
                        by_name || server.address == Some(wire.dst)
                    })
            });
            let Some(frontend) = frontend.filter(|_| leads) else { continue };
            let flow = match frontend.address {
                Some(to) => match Flow::new(wire.src, to, Protocol::Tcp, Some(listener.port)) {
                    Ok(flow) => Some(listener.hosts.first().map_or(flow.clone(), |host| flow.by_name(host))),
                    Err(_) => continue,
                },
                None => None,
            };
            found.push(Entrance { by: format!("the application gateway {}", gateway.name), flow });
        }
        found
    }
}
