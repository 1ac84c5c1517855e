//! The flows between the ends of a statement, with those in it that nobody names.

use std::net::IpAddr;

use super::scope::Estate;
use super::side::{Side, Sides};
use super::statement::Statement;
use super::{Basis, ComplaintFlow, End, Protocol, Service, infer};
use crate::symptom_text::Symptom;

/// The ports of the web.
const WEB: [u16; 2] = [443, 80];

/// Returns the flows of one port, and those that the words have the wrong direction.
pub(super) fn flows_of(
    service: Service,
    statement: &Statement,
    sides: &Sides,
    estate: &Estate<'_>,
) -> (Vec<ComplaintFlow>, Vec<ComplaintFlow>) {
    let nobody =
        |list: &[Side]| list.contains(&Side::Nobody) && list.iter().all(|side| *side == Side::Nobody);
    if nobody(&sides.sources) || nobody(&sides.destinations) {
        return (Vec::new(), Vec::new());
    }
    let places = |list: &[Side]| list.iter().filter_map(Side::machine).collect::<Vec<usize>>();
    let inferred = |list: Vec<usize>| {
        list.into_iter().map(|at| Side::Machine(at, None, Basis::Inferred)).collect::<Vec<Side>>()
    };
    let (mut sources, mut destinations) = (sides.sources.clone(), with_port(service, sides));
    let outward = statement.symptoms.contains(&Symptom::InternetLost);
    if sources.is_empty() && destinations.is_empty() {
        if service.port.is_none() {
            return (whole(service, sides, estate), Vec::new());
        }
        let servers = infer::servers(estate, &sides.scope, service, &[]);
        sources = inferred(infer::callers(estate, &sides.scope, &servers, service));
        destinations = inferred(servers);
    } else if destinations.is_empty() {
        if outward {
            destinations = vec![Side::Internet];
        } else if service.port.is_some() {
            destinations = inferred(infer::servers(estate, &sides.scope, service, &places(&sources)));
        } else {
            return (outgoing(service, &sources, sides, estate), Vec::new());
        }
    } else if sources.is_empty() {
        let servers = places(&destinations);
        if service.port.is_none() && service.protocol != Protocol::Icmp {
            let served = infer::services(estate, &servers);
            if !served.is_empty() {
                return (incoming(&served, &destinations, sides, estate), Vec::new());
            }
        }
        sources = inferred(infer::callers(estate, &sides.scope, &servers, service));
        if sources.is_empty() && service.port.is_none() && service.protocol != Protocol::Icmp {
            let calls = outgoing(service, &destinations, sides, estate);
            if !calls.is_empty() {
                return (calls, Vec::new());
            }
        }
    }
    if sources.is_empty()
        && !destinations.is_empty()
        && places(&destinations).iter().all(|at| estate.role(*at).is_some() || is_balancer(estate, *at))
    {
        sources = vec![Side::Internet];
    }
    let is_glued =
        |side: &Side| sides.bound.iter().any(|(known, port)| known == side && service.port == Some(*port));
    let is_glued = !destinations.is_empty() && destinations.iter().all(is_glued);
    pair(&sources, &destinations, service, (sides.is_marked, is_glued), estate)
}

/// Of several that fit, those are meant that the callers' sockets call; all of them where no socket tells it.
fn called(sources: &[Side], destinations: Vec<Side>, service: Service, estate: &Estate<'_>) -> Vec<Side> {
    let Some(port) = service.port else { return destinations };
    let is_one_of = |side: &Side| matches!(side, Side::Machine(_, _, Basis::Role | Basis::Inferred));
    if destinations.len() < 2 || !destinations.iter().all(is_one_of) {
        return destinations;
    }
    let is_called = |side: &Side| {
        let server = side.machine().and_then(|at| estate.machine(at));
        let callers = sources.iter().filter_map(Side::machine).filter_map(|at| estate.machine(at));
        server.is_some_and(|server| callers.into_iter().any(|caller| caller.calls(server, port)))
    };
    let known: Vec<Side> = destinations.iter().filter(|side| is_called(side)).cloned().collect();
    if known.is_empty() { destinations } else { known }
}

/// Returns the ends that are called on a port: where it is glued to some, those alone.
fn with_port(service: Service, sides: &Sides) -> Vec<Side> {
    let bound = |side: &Side| {
        sides.bound.iter().filter(|(known, _)| known == side).map(|(_, port)| *port).collect::<Vec<u16>>()
    };
    let own = |side: &&Side| service.port.is_some_and(|port| bound(side).contains(&port));
    let exact: Vec<Side> = sides.destinations.iter().filter(own).cloned().collect();
    let free: Vec<Side> = sides.destinations.iter().filter(|side| bound(side).is_empty()).cloned().collect();
    if !exact.is_empty() {
        exact
    } else if !free.is_empty() && service.port.is_some() {
        free
    } else {
        sides.destinations.clone()
    }
}

/// Returns the flows between all ends of two sides, turned around where the port says so.
fn pair(
    sources: &[Side],
    destinations: &[Side],
    service: Service,
    (is_marked, is_glued): (bool, bool),
    estate: &Estate<'_>,
) -> (Vec<ComplaintFlow>, Vec<ComplaintFlow>) {
    let turned = is_turned(sources, destinations, service, (is_marked, is_glued), estate);
    let (callers, servers) = if turned { (destinations, sources) } else { (sources, destinations) };
    let servers = called(callers, servers.to_vec(), service, estate);
    let (mut flows, mut written) = (Vec::new(), Vec::new());
    for caller in callers {
        for server in &servers {
            if caller.machine().is_some() && caller.machine() == server.machine() {
                continue;
            }
            flows.extend(flow(caller, server, service, estate));
            if turned {
                written.extend(flow(server, caller, service, estate));
            }
        }
    }
    (flows, written)
}

/// Tells whether the words have the direction wrong: the port says who serves. A port that is glued to who is called says so, too,
/// whoever listens.
fn is_turned(
    sources: &[Side],
    destinations: &[Side],
    service: Service,
    (is_marked, is_glued): (bool, bool),
    estate: &Estate<'_>,
) -> bool {
    // Who was inferred was inferred from the port: there is nothing to turn.
    let is_inferred = |side: &Side| matches!(side, Side::Machine(_, _, Basis::Inferred));
    // Every machine is managed by the same ports: the words say who calls.
    let is_said = is_marked && service.port.is_some_and(|port| infer::MANAGEMENT.contains(&port));
    service.port.is_some()
        && !is_said
        && !is_glued
        && !sources.iter().chain(destinations).any(is_inferred)
        && !sources.is_empty()
        && sources.iter().all(|source| {
            !destinations.is_empty()
                && destinations.iter().all(|destination| match (source.machine(), destination.machine()) {
                    (Some(one), Some(other)) if one != other => {
                        infer::is_server(estate, one, other, service, is_marked)
                    }
                    _ => false,
                })
        })
}

fn flow(source: &Side, destination: &Side, service: Service, estate: &Estate<'_>) -> Vec<ComplaintFlow> {
    let Some(from) = end(source, estate) else { return Vec::new() };
    let Service { protocol, port } = service;
    let Side::Frontend(at) = destination else {
        let Some(to) = end(destination, estate) else { return Vec::new() };
        // Whoever has lost the Internet misses the web, unless something else is named.
        let is_open = to == End::Internet && protocol == Protocol::Tcp && port.is_none();
        let ports = if is_open { WEB.map(Some).to_vec() } else { vec![port] };
        let flow = |port| ComplaintFlow { source: from.clone(), destination: to.clone(), protocol, port };
        return ports.into_iter().map(flow).collect();
    };
    let Some(name) = estate.inventory.names.get(*at) else { return Vec::new() };
    let owner = |address: IpAddr, basis: Basis| match estate.inventory.owner(address) {
        Some(machine) => End::Machine { name: machine.name.clone(), address, basis },
        None => End::Address(address),
    };
    let behind = name.backends.iter().filter(|backend| port.is_none_or(|port| port == backend.port));
    let mut found: Vec<ComplaintFlow> = behind
        .map(|backend| ComplaintFlow {
            source: from.clone(),
            destination: owner(backend.address, Basis::Backend),
            protocol,
            port: port.map(|_| backend.backend_port),
        })
        .collect();
    if found.is_empty() {
        let to = name.addresses.iter().map(|address| owner(*address, Basis::Named));
        found.extend(to.map(|to| ComplaintFlow { source: from.clone(), destination: to, protocol, port }));
    }
    found
}

fn end(side: &Side, estate: &Estate<'_>) -> Option<End> {
    match side {
        Side::Machine(at, address, basis) => {
            let machine = estate.machine(*at)?;
            let inside = address.filter(|address| machine.addresses.contains(address));
            let address = inside.or_else(|| machine.addresses.first().copied()).or(*address)?;
            Some(End::Machine { name: machine.name.clone(), address, basis: *basis })
        }
        Side::Frontend(at) => {
            let address = *estate.inventory.names.get(*at)?.addresses.first()?;
            Some(match estate.inventory.owner(address) {
                Some(machine) => End::Machine { name: machine.name.clone(), address, basis: Basis::Named },
                None => End::Address(address),
            })
        }
        Side::Outside(address) => Some(End::Address(*address)),
        Side::Internet => Some(End::Internet),
        Side::Nobody => None,
    }
}

/// Nothing is named but an application: everything that its tiers serve each other.
fn whole(service: Service, sides: &Sides, estate: &Estate<'_>) -> Vec<ComplaintFlow> {
    let scope = if !sides.scope.is_empty() {
        sides.scope.clone()
    } else if estate.applications().len() < 2 {
        estate.all()
    } else {
        return Vec::new();
    };
    if service.protocol == Protocol::Icmp {
        return Vec::new();
    }
    let served = infer::services(estate, &scope);
    let inside = Sides { scope, ..Sides::default() };
    incoming(&served, &[], &inside, estate)
}

/// What has addresses and no network is a load balancer.
fn is_balancer(estate: &Estate<'_>, at: usize) -> bool {
    estate.machine(at).is_some_and(|machine| machine.network.is_none() && !machine.addresses.is_empty())
}

/// Returns the flows of those who call what is served.
fn incoming(
    served: &[(Service, Vec<usize>)],
    destinations: &[Side],
    sides: &Sides,
    estate: &Estate<'_>,
) -> Vec<ComplaintFlow> {
    let mut found = Vec::new();
    for (service, servers) in served {
        let callers = infer::callers(estate, &sides.scope, servers, *service);
        let mut sources: Vec<Side> =
            callers.into_iter().map(|at| Side::Machine(at, None, Basis::Inferred)).collect();
        if sources.is_empty() && servers.iter().all(|at| is_balancer(estate, *at)) {
            sources.push(Side::Internet);
        }
        let named: Vec<Side> = destinations
            .iter()
            .filter(|side| side.machine().is_some_and(|at| servers.contains(&at)))
            .cloned()
            .collect();
        let own: Vec<Side> = if named.is_empty() {
            servers.iter().map(|at| Side::Machine(*at, None, Basis::Inferred)).collect()
        } else {
            named
        };
        found.extend(pair(&sources, &own, *service, (true, false), estate).0);
    }
    found
}

/// One caller, and nothing about whom it calls: everything that is served to it.
fn outgoing(service: Service, sources: &[Side], sides: &Sides, estate: &Estate<'_>) -> Vec<ComplaintFlow> {
    if service.protocol == Protocol::Icmp {
        return Vec::new();
    }
    let callers: Vec<usize> = sources.iter().filter_map(Side::machine).collect();
    let scope = if sides.scope.is_empty() { estate.all() } else { sides.scope.clone() };
    let mut found = Vec::new();
    for (service, servers) in infer::services(estate, &scope) {
        let servers: Vec<usize> = servers.into_iter().filter(|at| !callers.contains(at)).collect();
        let usual = infer::callers(estate, &sides.scope, &servers, service);
        let own: Vec<Side> = sources
            .iter()
            .filter(|side| side.machine().is_some_and(|at| usual.contains(&at)))
            .cloned()
            .collect();
        let to: Vec<Side> = servers.iter().map(|at| Side::Machine(*at, None, Basis::Inferred)).collect();
        found.extend(pair(&own, &to, service, (true, false), estate).0);
    }
    found
}
