//! Who is meant where nobody is named: the servers of a port, its callers, and which of two ends serves it.

use std::collections::BTreeSet;

use super::scope::Estate;
use super::vocabulary::WORDS;
use super::{Allow, Protocol, Selector, Service};

/// A range of more ports than these says nothing about who serves one of them.
const MAX_RANGE: usize = 64;
/// Estates with no more machines than these need no tiers: whoever is not the one is the other.
const SMALL: usize = 3;
/// Ports that people manage machines by.
pub(super) const MANAGEMENT: [u16; 4] = [22, 3389, 5985, 5986];

/// Returns the machines that serve a port, of those in scope, or of all where the scope is empty.
pub(super) fn servers(
    estate: &Estate<'_>,
    scope: &[usize],
    service: Service,
    callers: &[usize],
) -> Vec<usize> {
    let Some(port) = service.port else { return Vec::new() };
    let all = if scope.is_empty() { estate.all() } else { scope.to_vec() };
    let all: Vec<usize> = all.into_iter().filter(|at| !callers.contains(at)).collect();
    let within =
        |list: Vec<usize>| -> Vec<usize> { list.into_iter().filter(|at| all.contains(at)).collect() };
    let listening: Vec<usize> = all
        .iter()
        .copied()
        .filter(|at| estate.machine(*at).and_then(|machine| machine.listens(port)) == Some(true))
        .collect();
    if !listening.is_empty() {
        // One of several that do the same may have lost its listener: it is meant, too.
        return within(estate.tiers(&listening));
    }
    let allowed: Vec<usize> =
        all.iter().copied().filter(|at| rules(estate, *at, service).next().is_some()).collect();
    let by_role: Vec<usize> = all.iter().copied().filter(|at| role_serves(estate, *at, port)).collect();
    let both: Vec<usize> = allowed.iter().copied().filter(|at| by_role.contains(at)).collect();
    if !both.is_empty() {
        return both;
    }
    if !allowed.is_empty() && !MANAGEMENT.contains(&port) {
        return allowed;
    }
    if !by_role.is_empty() {
        return by_role;
    }
    if estate.all().len() <= SMALL && !callers.is_empty() { all } else { Vec::new() }
}

/// Returns the machines that call some servers on a port; none where only the Internet does.
pub(super) fn callers(
    estate: &Estate<'_>,
    scope: &[usize],
    servers: &[usize],
    service: Service,
) -> Vec<usize> {
    let management = service.port.is_some_and(|port| MANAGEMENT.contains(&port));
    let own = estate.tiers(servers);
    let mut let_in: BTreeSet<usize> = BTreeSet::new();
    for server in servers {
        for rule in rules(estate, *server, service) {
            let_in.extend(rule.sources.iter().flat_map(|source| members(estate, source, *server)));
        }
    }
    let others = |list: Vec<usize>| -> Vec<usize> {
        let other = |at: &usize| !own.contains(at) && (management || estate.role(*at) != Some("jump"));
        let list: Vec<usize> = list.into_iter().filter(other).collect();
        let inside: Vec<usize> = list.iter().copied().filter(|at| scope.contains(at)).collect();
        if inside.is_empty() { list } else { inside }
    };
    let let_in: Vec<usize> = let_in.into_iter().collect();
    let found = others(estate.tiers(&let_in));
    if !found.is_empty() && service.port.is_some() {
        return found;
    }
    if management && estate.all().len() > SMALL {
        // Machines are managed from where that is done, or from outside.
        let jump = estate.of_role("jump");
        return others(jump);
    }
    let by_tier: BTreeSet<usize> = servers.iter().flat_map(|server| tier_before(estate, *server)).collect();
    let found = others(by_tier.into_iter().collect());
    if !found.is_empty() {
        return found;
    }
    if estate.all().len() <= SMALL {
        return estate.all().into_iter().filter(|at| !servers.contains(at)).collect();
    }
    // Nothing says what they are: whoever else is in the application.
    let nameless = servers.iter().all(|server| estate.role(*server).is_none());
    let same = |at: &usize| {
        servers.iter().any(|server| {
            estate.application(*server).is_some() && estate.application(*server) == estate.application(*at)
        })
    };
    // Whoever serves alone in its application serves the others.
    let alone = servers.iter().all(|server| {
        estate.all().iter().filter(|at| estate.application(**at) == estate.application(*server)).count()
            <= own.len()
    });
    if alone && !nameless {
        let callers =
            estate.all().into_iter().filter(|at| matches!(estate.role(*at), Some("web" | "app" | "worker")));
        return others(callers.collect());
    }
    if nameless { others(estate.all().into_iter().filter(same).collect()) } else { Vec::new() }
}

/// Tells which of two ends serves a port: above zero the first, below zero the second, zero where nothing says it.
pub(super) fn who_serves(estate: &Estate<'_>, one: usize, other: usize, service: Service) -> i32 {
    serves(estate, one, other, service) - serves(estate, other, one, service)
}

/// Tells how much speaks for a machine that serves a port to another.
pub(super) fn serves(estate: &Estate<'_>, server: usize, caller: usize, service: Service) -> i32 {
    let Some(port) = service.port else { return 0 };
    let listens = match estate.machine(server).and_then(|machine| machine.listens(port)) {
        Some(true) => 4,
        Some(false) => -1,
        None => 0,
    };
    let role = if role_serves(estate, server, port) { 2 } else { 0 };
    let lets_in = rules(estate, server, service)
        .any(|rule| rule.sources.iter().any(|source| members(estate, source, server).contains(&caller)));
    listens + role + if lets_in { 2 } else { 0 }
}

/// Tells whether a port is served by the first of two ends rather than by the other, whatever the words say of who calls. `is_said`: they
/// say it.
pub(super) fn is_server(
    estate: &Estate<'_>,
    one: usize,
    other: usize,
    service: Service,
    is_said: bool,
) -> bool {
    let Some(port) = service.port else { return false };
    let (Some(first), Some(second)) = (estate.machine(one), estate.machine(other)) else { return false };
    // What has addresses and no network is a load balancer, which calls nobody by itself.
    if second.network.is_none() {
        return false;
    }
    // Whom their sockets call is better known than anything.
    match (first.calls(second, port), second.calls(first, port)) {
        (true, _) => return false,
        (false, true) => return true,
        (false, false) => {}
    }
    let (own, others) = (serves(estate, one, other, service), serves(estate, other, one, service));
    if (others <= 0 || !is_said) && own > 1 && own - others > 2 {
        return true;
    }
    let is_tier = is_called_by(estate, one, other) && !is_called_by(estate, other, one);
    let (first, second) = (first.listens(port), second.listens(port));
    // `the database cannot reach the app server on 8443`, where the database alone serves it.
    let by_listener = first == Some(true) && second == Some(false);
    // `… on 3306`, where nobody serves it just now.
    let by_role = role_serves(estate, one, port) && !role_serves(estate, other, port) && second != Some(true);
    is_tier && (by_listener || by_role)
}

/// Tells whether machines of the role of one call those of the role of another, as tiers do.
pub(super) fn is_called_by(estate: &Estate<'_>, server: usize, caller: usize) -> bool {
    let role = estate.role(server).and_then(|role| WORDS.role.get(role));
    role.is_some_and(|role| {
        estate.role(caller).is_some_and(|caller| role.callers.iter().any(|known| known == caller))
    })
}

fn role_serves(estate: &Estate<'_>, machine: usize, port: u16) -> bool {
    estate.role(machine).and_then(|role| WORDS.role.get(role)).is_some_and(|role| role.ports.contains(&port))
}

/// Returns the machines of the tier that calls the tier of a machine, in its application.
fn tier_before(estate: &Estate<'_>, server: usize) -> Vec<usize> {
    let Some(role) = estate.role(server).and_then(|role| WORDS.role.get(role)) else { return Vec::new() };
    let same = |at: &usize| {
        estate.application(server).is_none() || estate.application(*at) == estate.application(server)
    };
    let of = |name: &String| -> Vec<usize> { estate.of_role(name).into_iter().filter(same).collect() };
    role.callers.iter().map(of).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns the rules that name a port and guard a machine.
fn rules<'a>(estate: &'a Estate<'_>, machine: usize, service: Service) -> impl Iterator<Item = &'a Allow> {
    let guarded = estate.machine(machine);
    estate.inventory.allows.iter().filter(move |rule| {
        let Some(machine) = guarded else { return false };
        let by_name = rule.machine.as_deref() == Some(machine.name.as_str());
        let by_subnet = rule.subnet.as_ref().is_some_and(|(network, subnet)| {
            (machine.network.as_deref(), machine.subnet.as_deref()) == (Some(network), Some(subnet))
        });
        let names_port = service.port.is_some_and(|port| {
            rule.ports.iter().any(|range| range.contains(&port) && range.clone().count() <= MAX_RANGE)
        });
        let fits = rule.protocol.is_none_or(|protocol| protocol == service.protocol);
        let to = rule.destinations.is_empty()
            || rule.destinations.iter().any(|selector| match selector {
                Selector::Any | Selector::Tag(_) => true,
                Selector::Prefix(prefix) => machine.addresses.iter().any(|address| prefix.contains(address)),
                Selector::Group(group) => machine.groups.contains(group),
            });
        (by_name || by_subnet || (rule.machine.is_none() && rule.subnet.is_none()))
            && names_port
            && fits
            && to
    })
}

/// Returns the machines that a side of a rule names; none where it holds the server, too, as everybody is let in then.
fn members(estate: &Estate<'_>, source: &Selector, server: usize) -> Vec<usize> {
    let found: Vec<usize> = match source {
        Selector::Any | Selector::Tag(_) => return Vec::new(),
        Selector::Prefix(prefix) => {
            let inside = |at: &usize| {
                estate
                    .machine(*at)
                    .is_some_and(|machine| machine.addresses.iter().any(|address| prefix.contains(address)))
            };
            estate.all().into_iter().filter(inside).collect()
        }
        Selector::Group(group) => estate
            .all()
            .into_iter()
            .filter(|at| estate.machine(*at).is_some_and(|machine| machine.groups.contains(group)))
            .collect(),
    };
    if found.contains(&server) { Vec::new() } else { found }
}

/// Returns what is served in a scope, with who serves it: ports that somebody listens on, or that rules name where nobody looked.
pub(super) fn services(estate: &Estate<'_>, scope: &[usize]) -> Vec<(Service, Vec<usize>)> {
    let mut found: Vec<(Service, Vec<usize>)> = Vec::new();
    let mut add =
        |service: Service, machine: usize| match found.iter_mut().find(|(known, _)| *known == service) {
            Some((_, machines)) => machines.push(machine),
            None => found.push((service, vec![machine])),
        };
    for at in scope {
        let Some(machine) = estate.machine(*at) else { continue };
        let mut ports: BTreeSet<(Protocol, u16)> = BTreeSet::new();
        match &machine.listeners {
            Some(all) => {
                let open = all
                    .iter()
                    .filter(|listener| listener.address.is_none_or(|address| !address.is_loopback()));
                ports.extend(open.map(|listener| (listener.protocol, listener.port)));
            }
            None => {
                let role = estate.role(*at).and_then(|role| WORDS.role.get(role));
                for port in role.into_iter().flat_map(|role| role.ports.iter().copied()) {
                    let service = Service { protocol: super::port::usual_protocol(port), port: Some(port) };
                    if rules(estate, *at, service).next().is_some() {
                        ports.insert((service.protocol, port));
                    }
                }
            }
        }
        for (protocol, port) in ports {
            // Nobody who complains about an application means its management, or the resolver that every machine runs.
            if !MANAGEMENT.contains(&port) && !matches!(port, 53 | 68 | 123 | 323) {
                add(Service { protocol, port: Some(port) }, *at);
            }
        }
    }
    found
}
