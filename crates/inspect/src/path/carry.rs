//! Where the routes of an interface take a packet, and what is wrong with the route that does.

use std::borrow::Cow;
use std::net::IpAddr;

use super::document::{Document, GuestDocument};
use super::estate::{Estate, Nic, is_six};
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Wire};
use super::gateway::Towards;
use super::hop::{Effect, Hop, Kind};
use super::topology::{Network, Peering};
use crate::net::Platform;
use crate::route::{Hop as NextHop, Outcome, Route, Source, Table};

/// So many routes are taken away one after another.
const MAX_REMOVALS: usize = 64;

/// Where a packet goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// To whoever has its destination, in this network or a peered one.
    Deliver,
    /// The same, though nothing says so: the routes are not known.
    Assumed,
    /// To the interface of an appliance.
    Appliance(usize),
    /// To the platform itself.
    Platform,
    /// Out of the estate, and not to the internet.
    Outside,
    /// To the gateway of its network, or of one that lends it.
    Gateway,
    /// To the internet.
    Internet,
    /// Nobody knows, or nowhere.
    Lost,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) estate: &'a Estate,
    pub(super) flow: &'a Flow,
    /// What is taken away.
    pub(super) gone: &'a [Cause],
}

/// Follows the routes of an interface for a packet. `before` are the machines that it came through.
pub(super) fn carry(asked: Asked<'_>, from: usize, wire: &Wire, before: &[usize]) -> (Hop, Next) {
    let Asked { estate, flow, gone } = asked;
    let Some(nic) = estate.nic(from) else { return (Hop::new(Kind::Route, "unknown"), Next::Lost) };
    let document = match nic.is_of_platform() {
        true => Document::Configuration,
        false => Document::Routes { nic: nic.name.clone() },
    };
    let hop = Hop::new(Kind::Route, &nic.name);
    match nic.routes.read() {
        Some(table) => {
            let carrier = Carrier { estate, flow, from, nic, wire, gone, before };
            let read = if nic.configured.0 { Document::Configuration } else { document };
            carrier.follow(table, hop.on(read))
        }
        None => (
            hop.lacking(document, format!("where it goes from there: {}", nic.routes.why_not())),
            Next::Assumed,
        ),
    }
}

struct Carrier<'a> {
    estate: &'a Estate,
    flow: &'a Flow,
    from: usize,
    nic: &'a Nic,
    wire: &'a Wire,
    gone: &'a [Cause],
    before: &'a [usize],
}

/// What the next hop of a route turns out to be.
enum Judged {
    /// It takes the packet on.
    Good(Next),
    /// It does not, and why.
    Bad(Fault, String),
    /// It is not known.
    Open(Document, String),
}

impl Carrier<'_> {
    fn follow(&self, table: &Table, mut hop: Hop) -> (Hop, Next) {
        let to = self.wire.dst;
        let mut current = Cow::Borrowed(table);
        // Whether an appliance that does not work was passed over: where it can be repaired and leads on, its route counts as a path.
        let mut repairable = false;
        for _ in 0..MAX_REMOVALS {
            let choice = current.choose(to);
            let best: Vec<&Route> = choice.best().collect();
            if Platform::of(to).is_some() {
                hop.reason = "routes do not apply to an address of the platform itself".to_owned();
                return (hop, Next::Platform);
            }
            match choice.outcome() {
                Outcome::Indeterminate => {
                    let why = format!("where it goes depends on {}", choice.unresolved().join(", "));
                    return (hop.lacking(Document::Tags, why), Next::Assumed);
                }
                Outcome::NoRoute => return self.gap(hop, "no route leads there", repairable),
                Outcome::Winner | Outcome::Tied => {}
            }
            let Some(first) = best.first().copied() else {
                return self.gap(hop, "no route leads there", repairable);
            };
            let users = first.row.source == Source::User;
            // What leads to the network or a peered one goes before whatever a gateway brings; nothing else does.
            let is_near = matches!(first.row.hop, NextHop::Local | NextHop::Peering) || users;
            if self.nic.is_of_platform() && !is_near && self.has_gateway() != Some(false) {
                let why = format!("{}: a gateway may bring routes that nobody configured", said(first));
                return (hop.lacking(Document::Configuration, why), Next::Assumed);
            }
            let (fault, why): (Fault, String);
            match first.row.hop {
                NextHop::Local | NextHop::Peering => {
                    hop.reason = said(first);
                    return (hop, Next::Deliver);
                }
                NextHop::ServiceEndpoint => {
                    hop.reason = said(first);
                    return (hop, Next::Outside);
                }
                // The platform shows an appliance that nobody is as a route to nowhere, with the address.
                NextHop::None if users && !first.row.hop_ips.is_empty() => {
                    let text = format!("{} leads to an appliance that nobody is", said(first));
                    (fault, why) = (Fault::RouteDeadNva, text);
                }
                NextHop::None if users => {
                    (fault, why) = (Fault::RouteBlackhole, format!("{} throws it away", said(first)));
                }
                NextHop::None => return self.gap(hop, &said(first), repairable),
                NextHop::Gateway => match self.has_gateway() {
                    Some(true) => {
                        hop.reason = said(first);
                        return (hop, Next::Gateway);
                    }
                    None => {
                        let why = format!("{}: whether there is a gateway is not known", said(first));
                        return (hop.lacking(Document::Networks, why), Next::Lost);
                    }
                    Some(false) => return self.no_gateway(hop, first),
                },
                NextHop::Other if !first.row.hop_type.eq_ignore_ascii_case("internet") => {
                    let why = format!("{}: where that leads is not known here", said(first));
                    let document = match self.nic.configured.0 || self.nic.is_of_platform() {
                        true => Document::Configuration,
                        false => Document::Routes { nic: self.nic.name.clone() },
                    };
                    return (hop.lacking(document, why), Next::Assumed);
                }
                NextHop::Other if self.estate.is_inside(to) => {
                    if !users {
                        return self.gap(hop, &said(first), repairable);
                    }
                    let text = format!("{} leads to the Internet, and {to} is inside", said(first));
                    (fault, why) = (Fault::RouteDetour, text);
                }
                NextHop::Other => {
                    hop.reason = said(first);
                    let Some((fault, object, why)) = self.unpropagated().filter(|_| !users) else {
                        return (hop, Next::Internet);
                    };
                    let cause = Cause::new(fault, object);
                    if self.gone.contains(&cause) {
                        return (hop, Next::Gateway);
                    }
                    hop.stops.push(Effect { rule: Some(said(first)), ..Effect::new(cause, why) });
                    return (hop, Next::Lost);
                }
                NextHop::Appliance => match self.appliances(&best, &mut hop) {
                    Judged::Good(next) => return (hop, next),
                    Judged::Open(document, why) => return (hop.lacking(document, why), Next::Assumed),
                    Judged::Bad(found, text) => {
                        repairable |= self.leads_on(first);
                        (fault, why) = (found, text);
                    }
                },
            }
            let cause = Cause::new(fault, self.object(first));
            if !self.gone.contains(&cause) {
                hop.stops.push(Effect { rule: Some(said(first)), ..Effect::new(cause, why) });
            }
            // Behind it the table is asked again.
            let taken: Vec<Route> = best.into_iter().cloned().collect();
            current = Cow::Owned(current.without(|route| taken.contains(route)));
        }
        (hop, Next::Lost)
    }

    /// Judges the appliances to which equal routes lead: one, or several that share the load.
    fn appliances(&self, best: &[&Route], hop: &mut Hop) -> Judged {
        let addresses: Vec<(&Route, &String)> = best
            .iter()
            .flat_map(|route| route.row.hop_ips.iter().map(move |address| (*route, address)))
            .collect();
        let mut good: Vec<(String, Next)> = Vec::new();
        let mut bad: Vec<(&Route, Fault, String)> = Vec::new();
        for (route, address) in &addresses {
            match self.appliance(route, address) {
                Judged::Good(next) => good.push(((*address).clone(), next)),
                Judged::Bad(fault, why) => bad.push((*route, fault, why)),
                open @ Judged::Open(..) => return open,
            }
        }
        let Some((chosen, next)) = good.first().cloned() else {
            return match bad.into_iter().next() {
                Some((_, fault, why)) => Judged::Bad(fault, why),
                None => Judged::Open(
                    Document::Routes { nic: self.nic.name.clone() },
                    "the appliance has no address".to_owned(),
                ),
            };
        };
        for (route, fault, why) in bad {
            let cause = Cause::new(fault, self.object(route));
            if !self.gone.contains(&cause) {
                hop.shares.push(Effect::new(cause, format!("{why}: it takes a share of the load")));
            }
        }
        if good.len() > 1 {
            let why = format!("several appliances share the load, and {chosen} alone was followed");
            hop.missing
                .push(super::document::Missing { what: Document::Packets { machine: chosen.clone() }, why });
        }
        hop.reason = best.first().map(|route| said(route)).unwrap_or_default();
        Judged::Good(next)
    }

    fn appliance(&self, route: &Route, text: &str) -> Judged {
        let Ok(address) = text.parse::<IpAddr>() else {
            let why = format!("the next hop `{text}` cannot be read");
            return Judged::Open(Document::Routes { nic: self.nic.name.clone() }, why);
        };
        if address == self.wire.dst {
            return Judged::Good(Next::Deliver);
        }
        let estate = self.estate;
        let route = said(route);
        let own = self.nic.network.as_deref();
        let behind = estate.frontend_seen(own, address).map(|(balancer, _)| balancer);
        let owners = estate.owners_seen(own, address);
        let owner = match owners.as_slice() {
            [] if behind.is_some() => match behind.and_then(|balancer| self.member(&balancer.name)) {
                Some(member) => member,
                None => {
                    let why = format!("which member of the load balancer at {address} takes it");
                    return Judged::Open(Document::Frontends, why);
                }
            },
            [] if estate.interfaces.read().is_none() => {
                return Judged::Open(Document::Interfaces, format!("whether {address} is anybody"));
            }
            [] if estate.is_managed(address) => {
                let why = format!("{address} is a firewall of the platform, and its rules were not read");
                return Judged::Open(Document::Firewalls, why);
            }
            [] if let Some(missing) = estate.missing_beyond(address) => {
                return Judged::Open(missing.what, missing.why);
            }
            [] => {
                return Judged::Bad(
                    Fault::RouteDeadNva,
                    format!("{route} leads to an appliance that nobody is"),
                );
            }
            [one] => *one,
            several => {
                let own = |at: &&usize| estate.nic(**at).is_some_and(|nic| nic.network == self.nic.network);
                match several.iter().find(own) {
                    Some(one) => *one,
                    None => {
                        return Judged::Open(
                            Document::Interfaces,
                            format!("several interfaces have {address}"),
                        );
                    }
                }
            }
        };
        let Some(nic) = estate.nic(owner) else { return Judged::Good(Next::Lost) };
        if nic.firewall.is_some() {
            if owner == self.from {
                return Judged::Bad(Fault::RouteDetour, format!("{route} leads back to {}", nic.name));
            }
            return Judged::Good(Next::Appliance(owner));
        }
        let Some((at, machine)) = estate.machine_of(owner) else {
            return Judged::Open(Document::Frontends, format!("no machine stands behind {address}"));
        };
        let own = estate.machine_of(self.from).map(|(at, _)| at);
        if Some(at) == own || self.before.contains(&at) {
            return Judged::Bad(Fault::RouteDetour, format!("{route} leads back to {}", machine.name));
        }
        if machine.running == Some(false) {
            return Judged::Bad(
                Fault::RouteDeadNva,
                format!("{route} leads to {}, which is not running", machine.name),
            );
        }
        match (nic.forwards, machine.forwards(is_six(self.wire.dst))) {
            (Some(false), _) => {
                let why = format!(
                    "{route} leads to {}, whose interface {} does not forward",
                    machine.name, nic.name
                );
                Judged::Bad(Fault::RouteDetour, why)
            }
            (_, Some(false)) => {
                let why = format!("{route} leads to {}, whose kernel does not forward", machine.name);
                Judged::Bad(Fault::RouteDetour, why)
            }
            (None, _) => {
                let why = format!("whether the interface {} forwards is not known", nic.name);
                Judged::Open(Document::Interfaces, why)
            }
            (Some(true), _) => Judged::Good(Next::Appliance(owner)),
        }
    }

    /// Returns a member of a load balancer that passes packets on: appliances that share the load behind one address.
    fn member(&self, balancer: &str) -> Option<usize> {
        let estate = self.estate;
        let members = estate.members_of(balancer);
        let nics =
            members.iter().filter_map(|(name, _)| estate.nics.iter().position(|nic| nic.name == *name));
        let works = |at: &usize| {
            let forwards = estate.nic(*at).is_some_and(|nic| nic.forwards == Some(true));
            forwards && estate.machine_of(*at).is_some_and(|(_, machine)| machine.running != Some(false))
        };
        nics.into_iter().find(works)
    }

    /// Tells whether a path would lead to where a route's appliance is, or would be, and from there on; where that is not known, it
    /// does.
    fn leads_on(&self, route: &Route) -> bool {
        let address = route.row.hop_ips.iter().find_map(|text| text.parse::<IpAddr>().ok());
        let own = self.nic.network.as_deref().and_then(|own| self.estate.network(own));
        let network = address.and_then(|address| self.estate.network_of(address));
        let Some((own, network)) = own.zip(network) else { return true };
        let Some(there) = self.target_network(Some(&network.name)) else { return true };
        let leads = |from: &Network, to: &str| {
            from.name.eq_ignore_ascii_case(to) || from.peering_with(to).is_some_and(Peering::is_connected)
        };
        leads(own, &network.name) && leads(network, &there)
    }

    fn object(&self, route: &Route) -> Object {
        let named =
            self.nic.names.iter().find(|(prefix, _)| *prefix == route.prefix).map(|(_, name)| name.clone());
        let own = route.row.name.clone().filter(|name| !name.is_empty());
        let name = own.or(named).unwrap_or_else(|| route.prefix.to_string());
        Object::Route { table: self.nic.table.clone().unwrap_or_else(|| "unknown".to_owned()), route: name }
    }

    fn has_gateway(&self) -> Option<bool> {
        let own = self.estate.network(self.nic.network.as_deref()?)?;
        let lent = |peering: &&Peering| {
            let back = self.estate.network(&peering.remote).and_then(|other| other.peering_with(&own.name));
            back.is_none_or(|back| back.transit != Some(false))
        };
        let used = own.peerings.iter().filter(|peering| peering.is_connected() && peering.remote_gateway);
        Some(own.has_gateway() || used.into_iter().any(|peering| lent(&peering)))
    }

    /// Names the peering that keeps a network from the gateway of a connected one, where there is such a gateway.
    fn unlent_gateway(&self) -> Option<(Fault, Object, String)> {
        let own = self.estate.network(self.nic.network.as_deref()?)?;
        let connected = own.peerings.iter().filter(|peering| peering.is_connected());
        let (peering, hub) = connected
            .filter_map(|peering| Some((peering, self.estate.network(&peering.remote)?)))
            .find(|(_, hub)| hub.has_gateway())?;
        let object = |network: &Network, peering: &Peering| Object::Peering {
            network: network.name.clone(),
            peering: peering.name.clone(),
        };
        if !peering.remote_gateway {
            let why = format!(
                "the peering {} of {} does not use the gateway of {}",
                peering.name, own.name, hub.name
            );
            return Some((Fault::PeeringTransitOff, object(own, peering), why));
        }
        let back = hub.peering_with(&own.name).filter(|back| back.transit == Some(false))?;
        let why =
            format!("the peering {} of {} does not lend its gateway to {}", back.name, hub.name, own.name);
        Some((Fault::PeeringTransitOff, object(hub, back), why))
    }

    /// Tells whether a gateway of a connected network leads to the destination, by the routes of an interface there; the second is an
    /// interface whose routes would tell.
    fn gateway_beside(&self) -> (bool, Option<String>) {
        let own = self.nic.network.as_deref().and_then(|own| self.estate.network(own));
        let connected =
            own.into_iter().flat_map(|own| &own.peerings).filter(|peering| peering.is_connected());
        let hubs: Vec<&str> = connected
            .filter_map(|peering| self.estate.network(&peering.remote))
            .filter(|hub| hub.has_gateway())
            .map(|hub| hub.name.as_str())
            .collect();
        let is_there = |nic: &&Nic| {
            nic.network.as_deref().is_some_and(|own| hubs.iter().any(|hub| hub.eq_ignore_ascii_case(own)))
        };
        let mut unread = None;
        for nic in self.estate.nics.iter().filter(is_there) {
            match nic.routes.read().filter(|_| !nic.configured.0) {
                Some(table) => {
                    let choice = table.choose(self.wire.dst);
                    let mut best = choice.best();
                    if best.any(|route| route.row.hop == NextHop::Gateway) {
                        return (true, None);
                    }
                }
                None => unread = unread.or_else(|| Some(nic.name.clone())),
            }
        }
        (false, unread)
    }

    /// Says why the gateway that the network uses leads to nobody who has the destination. Where nobody looked, that is missing.
    fn behind_gateway(&self, hop: &mut Hop) -> Option<(Fault, Object, String)> {
        if self.has_gateway() != Some(true) {
            return None;
        }
        let estate = self.estate;
        let network = estate.gateway_network(self.nic)?;
        let lacking = |hop: &mut Hop, why: String| {
            hop.missing.push(super::document::Missing { what: Document::Gateways, why });
        };
        let Some(known) = estate.virtual_gateways.read() else {
            let why = format!(
                "what the gateway of {} leads to: {}",
                network.name,
                estate.virtual_gateways.why_not()
            );
            lacking(hop, why);
            return None;
        };
        let networks = estate.networks.read().map(Vec::as_slice).unwrap_or_default();
        let found = match known.towards(&network.name, self.wire.dst, networks) {
            Towards::Held(_) => self.unpropagated(),
            Towards::Cause(fault, object, why) => Some((fault, object, why)),
            Towards::Open(why) => {
                lacking(hop, why);
                None
            }
            Towards::Nothing => None,
        };
        hop.evidence.push(Document::Gateways);
        found
    }

    /// Names the route table that keeps out what the gateway has for the destination.
    fn unpropagated(&self) -> Option<(Fault, Object, String)> {
        let estate = self.estate;
        let table = self.nic.table.as_ref()?;
        let is_off = estate.unpropagated.iter().any(|own| own.eq_ignore_ascii_case(table));
        let known = estate.virtual_gateways.read().filter(|_| is_off)?;
        let network = estate.gateway_network(self.nic)?;
        let networks = estate.networks.read().map(Vec::as_slice).unwrap_or_default();
        let Towards::Held(_) = known.towards(&network.name, self.wire.dst, networks) else { return None };
        let why = format!(
            "the gateway of {} leads to {}, and the route table {table} keeps out what gateways know",
            network.name, self.wire.dst
        );
        Some((Fault::RoutePropagationOff, Object::RouteTable { table: table.clone() }, why))
    }

    fn no_gateway(&self, mut hop: Hop, route: &Route) -> (Hop, Next) {
        let network = self.nic.network.clone().unwrap_or_else(|| "unknown".to_owned());
        let missing = || {
            let why = format!("{} leads to a gateway, and the network {network} has none", said(route));
            (Fault::GatewayMissing, Object::Network { network: network.clone() }, why)
        };
        let (fault, object, why) = self.unlent_gateway().unwrap_or_else(missing);
        let cause = Cause::new(fault, object);
        if self.gone.contains(&cause) {
            return (hop, Next::Outside);
        }
        hop.stops.push(Effect::new(cause, why));
        (hop, Next::Lost)
    }

    /// Names what is missing, where nothing leads to the destination.
    fn gap(&self, mut hop: Hop, route: &str, repairable: bool) -> (Hop, Next) {
        if repairable {
            return (hop, Next::Deliver);
        }
        let to = self.wire.dst;
        let own = self.nic.network.as_deref();
        let there = self.target_network(own);
        let from = own.and_then(|own| self.estate.network(own));
        if let Some(why) = from.zip(there.as_deref()).and_then(|(from, there)| self.unclear(from, there)) {
            return (hop.lacking(Document::Networks, why), Next::Lost);
        }
        let (fault, object, why) = match (from, there) {
            (Some(from), Some(there)) if from.name != there => self.between(from, &there, route),
            (Some(_), None) if let Some(found) = self.behind_gateway(&mut hop) => found,
            (Some(_), None) => match self.gateway_beside() {
                (true, _) => self.unlent_gateway().unwrap_or_else(|| self.no_path(route)),
                (false, Some(nic)) => {
                    let why = format!("whether a gateway beside leads to {to}");
                    hop.missing.push(super::document::Missing { what: Document::Routes { nic }, why });
                    self.no_path(route)
                }
                (false, None) => self.no_path(route),
            },
            (Some(_), Some(_)) | (None, _) => self.no_path(route),
        };
        let is_of_gateway = matches!(
            object,
            Object::Connection { .. }
                | Object::LocalGateway { .. }
                | Object::GatewayPeer { .. }
                | Object::GatewayPrefix { .. }
                | Object::RouteTable { .. }
                | Object::Circuit { .. }
                | Object::CircuitPeering { .. }
        );
        let cause = Cause::new(fault, object);
        if self.gone.contains(&cause) {
            hop.reason = "as if a path were there".to_owned();
            return (hop, if is_of_gateway { Next::Outside } else { Next::Deliver });
        }
        if self.estate.networks.read().is_none() {
            let why = format!(
                "which network {to} is in, and whether it is peered: {}",
                self.estate.networks.why_not()
            );
            hop.evidence.push(Document::Networks);
            hop.missing.push(super::document::Missing { what: Document::Networks, why });
        }
        // The other side of a peering may say more than this one.
        hop.missing.extend(self.estate.missing_beyond(to));
        let effect = Effect { rule: Some(route.to_owned()), ..Effect::new(cause, why) };
        // A peering that was not read is not one that is absent.
        let effects = if self.estate.networks.read().is_some() { &mut hop.stops } else { &mut hop.possible };
        effects.push(effect);
        (hop, Next::Lost)
    }

    /// Says which peering between two networks has a state that is not known here.
    fn unclear(&self, from: &Network, there: &str) -> Option<String> {
        let theirs = self.estate.network(there).and_then(|other| other.peering_with(&from.name));
        let mut both = from.peering_with(there).into_iter().chain(theirs);
        let own = both.find(|peering| !peering.is_connected() && !peering.is_cut())?;
        Some(format!("the state of the peering {}, `{}`, is not known here", own.name, own.state))
    }

    /// Names what is missing between two networks.
    fn between(&self, from: &Network, there: &str, route: &str) -> (Fault, Object, String) {
        let other = self.estate.network(there);
        let own = from.peering_with(there).map(|peering| (from, peering));
        let theirs = other.and_then(|other| other.peering_with(&from.name).map(|peering| (other, peering)));
        let object = |network: &Network, peering: &Peering| Object::Peering {
            network: network.name.clone(),
            peering: peering.name.clone(),
        };
        // The side that lost its other side is the one to make anew, before one that only waits for it.
        let waits = |(_, peering): &(&Network, &Peering)| peering.state.eq_ignore_ascii_case("initiated");
        let broken = [own, theirs].into_iter().flatten().filter(|(_, peering)| !peering.is_connected());
        if let Some((network, peering)) = broken.min_by_key(waits) {
            let why = format!("the peering {} of {} is {}", peering.name, network.name, peering.state);
            return (Fault::PeeringDisconnected, object(network, peering), why);
        }
        if let Some((network, peering)) = own {
            if peering.knows(self.wire.dst) {
                return self.no_path(route);
            }
            let why = format!(
                "the peering {} of {} does not know {}, which {there} got later: both sides are not in step",
                peering.name, network.name, self.wire.dst
            );
            return (Fault::PeeringNotSynced, object(network, peering), why);
        }
        let is_between = |hub: &&Network| {
            let reaches = |end: &str| hub.peering_with(end).is_some_and(Peering::is_connected);
            reaches(&from.name) && reaches(there)
        };
        match self.estate.networks.read().into_iter().flatten().find(is_between) {
            // Whoever peers both with a hub alone may mean them to be apart.
            Some(hub) => {
                let why = format!(
                    "{} and {there} are not peered; both are peered with {}, and a peering leads no further than to its other side",
                    from.name, hub.name
                );
                (Fault::NoPath, Object::flow(self.flow), why)
            }
            None => match other.and_then(|other| shared_hub(from, other)) {
                Some(hub) => {
                    let why = format!(
                        "{} and {there} both use the gateway of {hub}, and no route from it leads from {} to {}",
                        from.name, self.nic.name, self.wire.dst
                    );
                    (Fault::NoPath, Object::flow(self.flow), why)
                }
                None => (
                    Fault::PeeringMissing,
                    Object::networks(&from.name, there),
                    format!("{} and {there} are not peered", from.name),
                ),
            },
        }
    }

    fn no_path(&self, route: &str) -> (Fault, Object, String) {
        let why = format!("nothing leads from {} to {}: {route}", self.nic.name, self.wire.dst);
        (Fault::NoPath, Object::flow(self.flow), why)
    }

    /// Returns the network in which the destination is, a network that is not the packet's own before its own.
    fn target_network(&self, own: Option<&str>) -> Option<String> {
        let owners =
            self.estate.owners(self.wire.dst).iter().filter_map(|at| self.estate.nic(*at)?.network.clone());
        let networks = self.estate.networks.read().into_iter().flatten();
        let holding =
            networks.filter(|network| network.contains(self.wire.dst)).map(|network| network.name.clone());
        let beyond = self.estate.beyond(self.wire.dst).map(|(peering, _)| peering.remote.clone());
        let mut all: Vec<String> = owners.chain(holding).chain(beyond).collect();
        all.sort_by_key(|name| own.is_some_and(|own| own.eq_ignore_ascii_case(name)));
        all.into_iter().next()
    }
}

/// Returns the network, read or not, whose gateway two networks use: what leads from one to the other is a matter of its routes, as in a
/// virtual hub.
fn shared_hub<'a>(one: &'a Network, other: &Network) -> Option<&'a str> {
    let uses = |peering: &&Peering| peering.is_connected() && peering.remote_gateway;
    let is_shared = |peering: &&Peering| {
        other.peerings.iter().filter(uses).any(|own| own.remote.eq_ignore_ascii_case(&peering.remote))
    };
    one.peerings.iter().filter(uses).find(is_shared).map(|peering| peering.remote.as_str())
}

/// Says which route it is.
fn said(route: &Route) -> String {
    let row = &route.row;
    let name = row
        .name
        .as_deref()
        .filter(|name| !name.is_empty())
        .map(|name| format!(" {name}"))
        .unwrap_or_default();
    let hop = if row.hop_ips.is_empty() { String::new() } else { format!(" {}", row.hop_ips.join(", ")) };
    format!("the route{name} {} ({}) to {}{hop}", route.prefix, row.source.as_str(), row.hop_type)
}

/// What would have to be read to know whether a machine passes packets on.
pub(super) fn settings(machine: &str) -> Document {
    Document::Guest { machine: machine.to_owned(), document: GuestDocument::Settings }
}
