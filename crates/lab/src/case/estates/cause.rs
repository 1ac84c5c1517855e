//! What stops or hurts a flow, put where it does. Whether it does is for the walk to say: something before it may let the flow through.

use super::address::Prefix;
use super::estate::{Estate, GroupRule, Hop, Machine, Place, Role, Route, Service};
use super::guest::{GuestStep, Rule, Target};
use super::herring::shape;
use super::tiers::deny;
use super::walk::Flow;
use crate::case::random::Rng;
use crate::host::Protocol;

/// How many kinds there are.
const KINDS: usize = 26;

const NAMES: [&str; 7] = ["block", "cleanup", "chg", "sec-review", "isolate", "quick-fix", "tmp"];

fn name(rng: &mut Rng) -> String {
    format!("{}-{}", rng.one(&NAMES), 100 + rng.below(900))
}

/// Puts one there.
pub(super) fn put(estate: &mut Estate, flow: &Flow, rng: &mut Rng) {
    let kind = rng.below(KINDS);
    let (Some(source), Some(destination)) =
        (estate.owner(flow.source).cloned(), estate.owner(flow.destination).cloned())
    else {
        let Some(destination) = estate.owner(flow.destination).cloned() else { return };
        from_outside(estate, flow, &destination, rng);
        return;
    };
    match kind {
        0..=3 => group_rule(estate, flow, &destination, true, rng),
        4 => group_rule(estate, flow, &source, false, rng),
        5 => unlisted(estate, flow, &destination),
        6..=8 => guest_rule(estate, flow, (&source, &destination), rng),
        9 => closed(estate, flow, &destination),
        10 => own_chain(estate, flow, &destination, rng),
        11 => native(estate, flow, (&source, &destination), rng),
        12 | 13 => ban(estate, flow, &destination, rng),
        14..=17 => route(estate, (&source, &destination), rng),
        18 | 19 => shaping(estate, (&source, &destination), rng),
        20 => share(estate, flow, &destination, rng),
        21 => nobody(estate, flow, &destination, rng),
        _ => appliance(estate, flow, (&source, &destination), rng),
    }
}

/// Something outside of the estate calls: what can stop it is at the machine alone.
fn from_outside(estate: &mut Estate, flow: &Flow, destination: &Machine, rng: &mut Rng) {
    match rng.below(3) {
        0 => group_rule(estate, flow, destination, true, rng),
        1 => {
            let rule = Rule { source: Some(Prefix::host(flow.source)), ..Rule::new(Target::Drop) };
            first(estate, destination, "INPUT", rule);
        }
        _ => ban(estate, flow, destination, rng),
    }
}

fn first(estate: &mut Estate, machine: &Machine, chain: &'static str, rule: Rule) {
    estate.steps.push((machine.name.clone(), GuestStep::Rule { chain, first: true, rule }));
}

fn prefix_of(estate: &Estate, machine: &Machine) -> Prefix {
    estate.subnet(&machine.subnet).map_or(Prefix::ALL, |subnet| subnet.prefix)
}

fn group_rule(estate: &mut Estate, flow: &Flow, machine: &Machine, inbound: bool, rng: &mut Rng) {
    let groups: Vec<String> = estate.groups_of(machine).into_iter().flatten().collect();
    let group = groups.get(rng.below(groups.len())).cloned().unwrap_or_else(|| {
        // A group that nobody had before.
        let group = format!("{}-own-nsg", machine.name);
        let own = estate.machines.iter_mut().filter(|own| own.name == machine.name);
        own.for_each(|own| own.group = Some(group.clone()));
        group
    });
    let port = flow.port;
    let ports = match rng.below(6) {
        0 => Vec::new(),
        1 => vec![(port.saturating_sub(20).max(1), port.saturating_add(50))],
        2 => vec![(7, 7), (port, port)],
        _ => vec![(port, port)],
    };
    let other = if inbound { flow.source } else { flow.destination };
    let prefix = estate.owner(other).map_or(Prefix::host(other), |machine| prefix_of(estate, machine));
    let place = match rng.below(5) {
        0 => Place::Of(Prefix::host(other)),
        1 => Place::Of(prefix),
        2 if estate.owner(other).is_some() => Place::VirtualNetwork,
        _ => Place::Any,
    };
    let is_icmp = flow.protocol == Protocol::Icmp;
    let protocol = match (is_icmp, ports.is_empty() || rng.percent(30)) {
        (true, _) => rng.percent(50).then_some(Protocol::Icmp),
        (false, true) => None,
        (false, false) => Some(flow.protocol),
    };
    let (source, destination) = if inbound { (place, Place::Any) } else { (Place::Any, place) };
    let ports = if is_icmp { Vec::new() } else { ports };
    let priority = u16::try_from(210 + rng.below(60)).unwrap_or(210);
    let rule = GroupRule { protocol, source, destination, ports, ..deny(&name(rng), priority, inbound) };
    estate.add_rule(&group, rule);
}

/// The Allow for a flow is gone from a group that ends with a Deny.
fn unlisted(estate: &mut Estate, flow: &Flow, machine: &Machine) {
    for group in estate.groups_of(machine).into_iter().flatten() {
        if let Some(rules) = estate.groups.get_mut(&group) {
            rules.retain(|rule| {
                !(rule.allows && rule.inbound && rule.ports.contains(&(flow.port, flow.port)))
            });
        }
    }
}

fn guest_rule(estate: &mut Estate, flow: &Flow, (source, destination): (&Machine, &Machine), rng: &mut Rng) {
    let target = rng.one(&[0, 0, 1, 2]);
    let target = match (target, flow.protocol) {
        (0, _) => Target::Drop,
        (1, Protocol::Tcp) => Target::Reset,
        _ => Target::Reject,
    };
    if flow.protocol == Protocol::Icmp {
        let rule = Rule { protocol: Some(Protocol::Icmp), ..Rule::new(Target::Drop) };
        return first(estate, destination, "INPUT", rule);
    }
    let rule = Rule::port(flow.protocol, flow.port, target);
    let answers = Rule {
        source_port: Some(flow.port),
        ports: Vec::new(),
        ..Rule::port(flow.protocol, flow.port, Target::Drop)
    };
    match rng.below(9) {
        0 => first(estate, destination, "OUTPUT", answers),
        1 => first(estate, source, "INPUT", answers),
        2 => first(estate, source, "OUTPUT", rule),
        3 => {
            let caller = Some(Prefix::host(source.address));
            first(estate, destination, "INPUT", Rule { source: caller, ..Rule::new(target_of_any(target)) });
        }
        4 => {
            let ports = vec![(flow.port.saturating_sub(3), flow.port.saturating_add(9))];
            first(estate, destination, "INPUT", Rule { ports, ..rule });
        }
        5 => {
            let ports = vec![(99, 99), (flow.port, flow.port)];
            first(estate, destination, "INPUT", Rule { ports, ..rule });
        }
        _ => first(estate, destination, "INPUT", rule),
    }
}

/// A reset needs a protocol that knows one.
fn target_of_any(target: Target) -> Target {
    if target == Target::Reset { Target::Reject } else { target }
}

/// A guest that closes by default has forgotten the port.
fn closed(estate: &mut Estate, flow: &Flow, machine: &Machine) {
    let opens = |rule: &Rule| rule.target == Target::Accept && rule.ports.contains(&(flow.port, flow.port));
    for (_, step) in estate.steps.iter_mut().filter(|(name, _)| *name == machine.name) {
        if let GuestStep::Chain { rules, .. } = step {
            rules.retain(|rule| !opens(rule));
        }
    }
    estate.steps.retain(|(name, step)| {
        let is_open = matches!(step, GuestStep::Rule { chain: "INPUT", rule, .. } if opens(rule));
        *name != machine.name || !is_open
    });
    let has_policy = estate
        .steps
        .iter()
        .any(|(name, step)| *name == machine.name && matches!(step, GuestStep::Policy { chain: "INPUT" }));
    let has_chain = estate
        .steps
        .iter()
        .any(|(name, step)| *name == machine.name && matches!(step, GuestStep::Chain { .. }));
    if !has_policy && !has_chain {
        let rule = Rule::port(Protocol::Tcp, 22, Target::Accept);
        estate.steps.push((machine.name.clone(), GuestStep::Rule { chain: "INPUT", first: false, rule }));
        estate.steps.push((machine.name.clone(), GuestStep::Policy { chain: "INPUT" }));
    }
}

fn own_chain(estate: &mut Estate, flow: &Flow, machine: &Machine, rng: &mut Rng) {
    let taken = estate.steps.iter().any(|(name, step)| {
        *name == machine.name && matches!(step, GuestStep::Chain { name: "AGENT-IN", .. })
    });
    if taken || flow.protocol == Protocol::Icmp {
        return;
    }
    let target = if rng.percent(70) { Target::Drop } else { Target::Reject };
    let rules =
        vec![Rule::port(Protocol::Tcp, 22, Target::Accept), Rule::port(flow.protocol, flow.port, target)];
    estate.steps.push((machine.name.clone(), GuestStep::Chain { name: "AGENT-IN", from: "INPUT", rules }));
}

fn native(estate: &mut Estate, flow: &Flow, (source, destination): (&Machine, &Machine), rng: &mut Rng) {
    if flow.protocol == Protocol::Icmp {
        return;
    }
    let (machine, hook) = if rng.percent(70) { (destination, "input") } else { (source, "output") };
    let rule =
        Rule::port(flow.protocol, flow.port, if rng.percent(70) { Target::Drop } else { Target::Reject });
    let table = format!("edr{}", 10 + rng.below(90));
    let step = GuestStep::Native { table, family: rng.one(&["inet", "ip"]), hook, drops_rest: false, rule };
    estate.steps.push((machine.name.clone(), step));
}

fn ban(estate: &mut Estate, flow: &Flow, machine: &Machine, rng: &mut Rng) {
    if flow.protocol == Protocol::Icmp {
        return;
    }
    let taken = estate.steps.iter().find_map(|(name, step)| {
        let GuestStep::Ban { jail: "sshd", ports, .. } = step else { return None };
        (*name == machine.name).then(|| ports.clone())
    });
    let (jail, ports) = match taken {
        Some(ports) if ports.is_empty() || ports.contains(&flow.port) => ("sshd", ports),
        Some(_) => ("recidive", Vec::new()),
        None => ("sshd", if flow.port == 22 { vec![22] } else { Vec::new() }),
    };
    let step = GuestStep::Ban { jail, address: flow.source, ports, rejects: rng.percent(75) };
    estate.steps.push((machine.name.clone(), step));
}

fn route(estate: &mut Estate, (source, destination): (&Machine, &Machine), rng: &mut Rng) {
    // There, or back.
    let (from, to) = if rng.percent(65) { (source, destination) } else { (destination, source) };
    let prefix = if rng.percent(65) { Prefix::host(to.address) } else { prefix_of(estate, to) };
    let others: Vec<&Machine> = estate
        .machines
        .iter()
        .filter(|machine| !machine.forwards && machine.name != from.name && machine.name != to.name)
        .filter(|machine| machine.subnet.split('/').next() == from.subnet.split('/').next())
        .collect();
    let dead = prefix_of(estate, to).at(253);
    let hop = match (rng.below(4), others.get(rng.below(others.len()))) {
        (0, _) => Hop::None,
        (1, Some(other)) => Hop::Appliance(other.address),
        (2, _) => Hop::Internet,
        _ => Hop::Appliance(dead),
    };
    let short = estate.subnet(&from.subnet).map(|subnet| subnet.short().to_owned()).unwrap_or_default();
    let route = Route { name: name(rng), prefix, hop };
    estate.add_route(&from.subnet, &format!("{short}-rt{}", rng.below(9)), route);
}

fn shaped(rng: &mut Rng) -> GuestStep {
    let also_ssh = rng.percent(50);
    let small = u32::try_from(20 + rng.below(80)).ok();
    match rng.below(6) {
        0 => GuestStep::Rate { rate: rng.one(&["5mbit", "1mbit", "512kbit"]), also_ssh },
        1 => GuestStep::Netem { delay: None, loss: Some(10), other: None, also_ssh },
        2 => GuestStep::Netem { delay: None, loss: None, other: Some("netem_corrupt"), also_ssh },
        3 => GuestStep::Netem { delay: small, loss: None, other: Some("netem_reorder"), also_ssh },
        4 => GuestStep::Netem { delay: small, loss: Some(8), other: None, also_ssh },
        _ => GuestStep::Netem { delay: small, loss: None, other: None, also_ssh },
    }
}

fn shaping(estate: &mut Estate, (source, destination): (&Machine, &Machine), rng: &mut Rng) {
    let machine = if rng.percent(50) { source } else { destination };
    shape(estate, &machine.name, shaped(rng));
}

/// A rule that takes a share of the packets.
fn share(estate: &mut Estate, flow: &Flow, machine: &Machine, rng: &mut Rng) {
    if flow.protocol == Protocol::Icmp {
        return;
    }
    let share = u32::try_from(20 + rng.below(40)).ok();
    first(estate, machine, "INPUT", Rule { share, ..Rule::port(flow.protocol, flow.port, Target::Drop) });
}

/// The service is gone, listens on another port, or on the loopback alone.
fn nobody(estate: &mut Estate, flow: &Flow, machine: &Machine, rng: &mut Rng) {
    if flow.protocol != Protocol::Tcp {
        return;
    }
    let change = rng.below(3);
    let own = |service: &Service| service.machine == machine.name && service.port == flow.port;
    if change == 0 {
        estate.services.retain(|service| !own(service));
    }
    for service in estate.services.iter_mut().filter(|service| own(service)) {
        service.is_local = change == 1;
        service.port += u16::from(change == 2);
    }
}

/// Something at the appliance between two ends, where there is one.
fn appliance(estate: &mut Estate, flow: &Flow, ends: (&Machine, &Machine), rng: &mut Rng) {
    let Some(via) = estate.of_role(Role::Appliance).first().map(|machine| (*machine).clone()) else {
        return route(estate, ends, rng);
    };
    if flow.protocol == Protocol::Icmp {
        return;
    }
    match rng.below(6) {
        0 | 1 => {
            let target = if rng.percent(80) { Target::Drop } else { Target::Reject };
            first(estate, &via, "FORWARD", Rule::port(flow.protocol, flow.port, target));
        }
        2 => {
            // The appliance forgot the port.
            estate.steps.retain(|(name, step)| {
                let opens = matches!(step, GuestStep::Rule { chain: "FORWARD", rule, .. }
                    if rule.target == Target::Accept && rule.ports.contains(&(flow.port, flow.port)));
                *name != via.name || !opens
            });
        }
        3 => group_rule(estate, flow, &via, true, rng),
        4 => {
            shape(estate, &via.name, shaped(rng));
        }
        _ => {
            let answers = Rule {
                source_port: Some(flow.port),
                ports: Vec::new(),
                ..Rule::port(flow.protocol, flow.port, Target::Drop)
            };
            first(estate, &via, "FORWARD", answers);
        }
    }
}
