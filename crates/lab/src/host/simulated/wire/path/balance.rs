//! A load balancer: which of its members gets a connection.

use std::net::IpAddr;

use super::gate::{IN, judge, lets};
use super::internet::PLATFORM;
use super::location::{Location, location};
use super::walk::Datagram;
use crate::host::fabric::BalancerRule;
use crate::host::simulated::world::World;
use crate::host::stage::Protocol;
use ghost_inspect::netfilter::State;

/// Where a packet to a frontend goes.
pub(super) enum Balanced {
    /// It goes to no frontend.
    Elsewhere,
    /// Nobody takes it.
    Dropped,
    /// To a member.
    Member(Datagram),
}

/// Chooses among the members of a load balancer whose probe is answered: the same for all packets of a connection.
pub(super) fn balance(world: &mut World, packet: &Datagram) -> Balanced {
    let is_frontend = |rule: &&BalancerRule| rule.frontend == packet.dst.0;
    if !world.fabric.balancing.iter().any(|rule| is_frontend(&rule)) {
        return Balanced::Elsewhere;
    }
    let takes = |rule: &&BalancerRule| {
        rule.protocol.is_none_or(|own| own == packet.protocol)
            && (rule.port == 0 || rule.port == packet.dst.1)
            && matches!(packet.protocol, 6 | 17)
    };
    let own = world.fabric.balancing.iter().filter(is_frontend).filter(takes);
    let Some(rule) = own.min_by_key(|rule| rule.port == 0).cloned() else { return Balanced::Dropped };
    let mut up: Vec<IpAddr> = Vec::new();
    for (name, address) in &rule.members {
        if is_up(world, &rule, name, *address) {
            up.push(*address);
        }
    }
    if up.is_empty() && rule.takes_all {
        up.extend(rule.members.iter().map(|(_, address)| *address));
    }
    let number = usize::from(packet.src.1) + usize::from(packet.dst.1);
    let Some(member) = up.get(number % up.len().max(1)) else { return Balanced::Dropped };
    let port = if rule.backend_port == 0 { packet.dst.1 } else { rule.backend_port };
    Balanced::Member(Datagram { dst: (*member, port), ..packet.clone() })
}

/// Asks a member as the platform does: its rules, its packet filter, and who listens.
fn is_up(world: &mut World, rule: &BalancerRule, name: &str, address: IpAddr) -> bool {
    let Some(machine) = world.machine(name) else { return false };
    let Some((port, page)) = rule.probe.clone() else { return machine.running };
    let Location::Machine { nic, .. } = location(world, address) else { return false };
    let Some(own) = world.machine(name).and_then(|machine| machine.nics.get(nic)).cloned() else {
        return false;
    };
    let question = Datagram {
        from: None,
        src: (IpAddr::V4(PLATFORM), 51_000),
        dst: (address, port),
        protocol: 6,
        flags: Some(2),
        icmp: None,
        state: State::New,
        refusal: false,
    };
    let device = format!("eth{nic}");
    lets(&world.fabric, &own, "inbound", 6, question.src, question.dst)
        && judge(world, name, &question, &IN.map(|hook| (hook, device.as_str()))).is_none()
        && world.listener(name, Protocol::Tcp, port).is_some()
        && page.is_none_or(|path| world.page_status(name, port, &path) == Some(200))
}
