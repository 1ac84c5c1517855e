//! What denies, drops, bans, shapes or leads away, and has nothing to do with what people complain about; mostly.

use std::net::Ipv4Addr;

use super::address::Prefix;
use super::estate::{Estate, GroupRule, Hop, Machine, Place, Role, Route};
use super::guest::{GuestStep, Rule, State, Target};
use super::tiers::deny;
use crate::case::random::Rng;
use crate::host::Protocol;

fn number(rng: &mut Rng) -> usize {
    100 + rng.below(900)
}

/// An address of a stranger.
pub(super) fn stranger(rng: &mut Rng) -> Ipv4Addr {
    let last = u8::try_from(10 + rng.below(240)).unwrap_or(10);
    if rng.percent(80) { Ipv4Addr::new(198, 51, 100, last) } else { Ipv4Addr::new(192, 0, 2, last) }
}

/// Strews them over an estate.
pub(super) fn strew(estate: &mut Estate, rng: &mut Rng) {
    let groups: Vec<String> = estate.groups.keys().cloned().collect();
    for group in groups {
        for at in 0..rng.below(3) {
            let (name, port) = rng.one(&[("deny-telnet", 23), ("deny-smb", 445), ("deny-rdp", 3389)]);
            let rule = GroupRule {
                protocol: Some(Protocol::Tcp),
                ports: vec![(port, port)],
                ..deny(&format!("{name}-{at}"), 150 + u16::try_from(10 * at).unwrap_or(0), true)
            };
            estate.add_rule(&group, rule);
        }
        if rng.percent(25) {
            let prefix = rng.one(&[(198, 51, 100, 24), (172, 31, 0, 16), (192, 0, 2, 24), (203, 0, 113, 25)]);
            let source = Place::Of(Prefix::new(Ipv4Addr::new(prefix.0, prefix.1, prefix.2, 0), prefix.3));
            let name = format!("{}-{}", rng.one(&["deny-range", "block-vendor"]), number(rng));
            estate.add_rule(&group, GroupRule { source, ..deny(&name, 180, true) });
        }
    }
    for machine in estate.machines.clone() {
        at_machine(estate, &machine, rng);
    }
    routes(estate, rng);
    if rng.percent(50) {
        let shaped: Vec<String> = estate.machines.iter().map(|machine| machine.name.clone()).collect();
        if let Some(name) = shaped.get(rng.below(shaped.len())) {
            let delay = u32::try_from(30 + rng.below(60)).ok();
            shape(estate, name, GuestStep::Netem { delay, loss: None, other: None, also_ssh: true });
        }
    }
}

/// Shapes a device, where nothing else does.
pub(super) fn shape(estate: &mut Estate, machine: &str, step: GuestStep) -> bool {
    let is_shape = |step: &GuestStep| matches!(step, GuestStep::Netem { .. } | GuestStep::Rate { .. });
    let taken = estate.steps.iter().any(|(name, known)| name == machine && is_shape(known));
    if !taken {
        estate.steps.push((machine.to_owned(), step));
    }
    !taken
}

fn at_machine(estate: &mut Estate, machine: &Machine, rng: &mut Rng) {
    let mut steps: Vec<GuestStep> = Vec::new();
    let rule = |rule: Rule| GuestStep::Rule { chain: "INPUT", first: false, rule };
    let six = estate.steps.iter().any(|(_, step)| matches!(step, GuestStep::Policy6));
    for _ in 0..rng.below(4) {
        let (protocol, port) =
            rng.one(&[(6, 23_u16), (6, 25), (6, 135), (6, 111), (17, 161), (17, 69), (17, 1900)]);
        let protocol = if protocol == 6 { Protocol::Tcp } else { Protocol::Udp };
        steps.push(rule(Rule::port(protocol, port, Target::Drop)));
    }
    if rng.percent(40) {
        let (a, b, c, length) =
            rng.one(&[(198, 51, 100, 25), (192, 0, 2, 24), (100, 64, 0, 10), (203, 0, 113, 24)]);
        let source = Some(Prefix::new(Ipv4Addr::new(a, b, c, 0), length));
        steps.push(rule(Rule { source, ..Rule::new(Target::Drop) }));
    }
    if rng.percent(30) {
        steps.push(rule(Rule { state: Some(State::Invalid), ..Rule::new(Target::Drop) }));
    }
    if rng.percent(15) && !six {
        steps.push(GuestStep::Policy6);
    }
    if rng.percent(30) {
        let port = rng.one(&[111_u16, 2049, 631, 5353]);
        let native = Rule::port(Protocol::Tcp, port, Target::Drop);
        steps.push(GuestStep::Native {
            table: "hygiene".to_owned(),
            family: rng.one(&["inet", "ip", "ip6"]),
            hook: "input",
            drops_rest: false,
            rule: native,
        });
    }
    for _ in 0..rng.below(4) {
        let (jail, ports) = rng.one(&[("sshd", 22_u16), ("nginx-http-auth", 80), ("sshd", 0)]);
        let ports: Vec<u16> = match ports {
            0 => Vec::new(),
            80 => vec![80, 443],
            one => vec![one],
        };
        // A chain is jumped to for the ports of its first ban.
        let known = steps.iter().find_map(|step| {
            let GuestStep::Ban { jail: known, ports, .. } = step else { return None };
            (*known == jail).then(|| ports.clone())
        });
        let ports = known.unwrap_or(ports);
        steps.push(GuestStep::Ban { jail, address: stranger(rng), ports, rejects: rng.percent(80) });
    }
    if rng.percent(30) && machine.role != Role::Appliance {
        let drop_in = rng.percent(15).then_some("DOCKER-USER");
        steps.push(GuestStep::Docker { drop_in });
    }
    estate.steps.extend(steps.into_iter().map(|step| (machine.name.clone(), step)));
}

fn routes(estate: &mut Estate, rng: &mut Rng) {
    let inside: Vec<(String, String)> = estate
        .subnets
        .iter()
        .filter(|subnet| estate.machines.iter().any(|machine| machine.subnet == subnet.name))
        .map(|subnet| (subnet.name.clone(), subnet.short().to_owned()))
        .collect();
    for _ in 0..rng.below(3) {
        let Some((subnet, short)) = inside.get(rng.below(inside.len())) else { return };
        let (a, b, length) = rng.one(&[(172, 20, 16), (192, 0, 24), (10, 250, 16)]);
        let third = if a == 192 { 2 } else { 0 };
        let hop = match rng.below(3) {
            0 => Hop::None,
            1 => Hop::Appliance(Ipv4Addr::new(10, 255, 255, 9)),
            _ => Hop::Gateway,
        };
        let name = format!("{}-{}", rng.one(&["sink", "null-route", "to-onprem-old"]), number(rng));
        let prefix = Prefix::new(Ipv4Addr::new(a, b, third, 0), length);
        estate.add_route(subnet, &format!("{short}-rt9"), Route { name, prefix, hop });
    }
}
