//! What routers that speak OSPF do not agree about on the links between them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::context::{Flow, Protocol};
use super::fault::Fault;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::hop;
use super::link::Address;
use super::model::Host;
use super::network::Network;
use super::object::Object;
use super::routing::OspfDevice;
use super::walk;

const SURE: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);

/// The number of OSPF among the protocols of IP.
const PROTOCOL: u8 = 89;
/// To whom routers say hello.
const ROUTERS: IpAddr = IpAddr::V4(Ipv4Addr::new(224, 0, 0, 5));

/// One end of a link between two routers.
struct End<'a> {
    host: &'a Host,
    address: &'a Address,
    device: Option<&'a OspfDevice>,
}

impl End<'_> {
    fn object(&self) -> Object {
        Object::Ospf { host: self.host.name.clone(), device: self.address.device.clone() }
    }

    fn link(&self) -> Option<&super::link::Link> {
        self.host.link(&self.address.device)
    }

    /// What it says of the other end: the state, where it knows it at all.
    fn state(&self, ip: IpAddr) -> Option<&str> {
        self.host.ospf_neighbors.rows().iter().find(|own| own.ip == ip).map(|own| own.state.as_str())
    }
}

/// Finds what keeps routers from becoming neighbors.
pub(super) fn check(network: &Network<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in network.hosts.iter().filter(|host| speaks(host)) {
        for address in host.global() {
            for (other, there) in network.segment(host, address) {
                // A pair is looked at from both ends, and each end speaks for itself.
                if speaks(other) && address.net.trunc() == there.net.trunc() {
                    let here = End { host, address, device: device(host, address) };
                    let far = End { host: other, address: there, device: device(other, there) };
                    found.extend(between(network, &here, &far));
                }
            }
        }
    }
    found
}

fn speaks(host: &Host) -> bool {
    host.daemons.read().is_some_and(|known| known.running.iter().any(|name| name == "ospfd"))
        && host.ospf_devices.read().is_some()
}

fn device<'a>(host: &'a Host, address: &Address) -> Option<&'a OspfDevice> {
    host.ospf_devices.rows().iter().find(|own| own.name == address.device)
}

fn between(network: &Network<'_>, here: &End<'_>, far: &End<'_>) -> Vec<Finding> {
    let is_down = |end: &End<'_>| end.link().is_some_and(|link| !link.carries());
    if is_down(here) || is_down(far) {
        return Vec::new();
    }
    let (Some(own), Some(other)) = (here.device, far.device) else {
        let missing =
            (here.device.is_none()).then_some(far.device).flatten().filter(|other| !other.is_passive);
        let named = missing.map(|other| {
            let shown = format!("{} does not speak OSPF", here.address.device);
            let one = Finding::new(
                SURE,
                Fault::OspfNotEnabled,
                here.object(),
                (&here.host.name, Part::OspfDevices, shown),
            );
            one.and(
                &far.host.name,
                Part::OspfDevices,
                format!("{} speaks it, in the area {}", other.name, other.area),
            )
        });
        return named.into_iter().collect();
    };
    let is_near =
        |state: Option<&str>| state.is_some_and(|state| state.starts_with("Full") || state.starts_with("2-"));
    let (seen, seen_there) = (here.state(far.address.ip()), far.state(here.address.ip()));
    if own.is_passive || other.is_passive || (is_near(seen) && is_near(seen_there)) {
        return Vec::new();
    }
    if own.area != other.area {
        let area = |one: &OspfDevice| one.area.clone();
        return odd(network, here, far, Fault::OspfAreaMismatch, area).into_iter().collect();
    }
    if (own.hello, own.dead) != (other.hello, other.dead) {
        let timers = |one: &OspfDevice| format!("hello {} ms, dead {} s", one.hello, one.dead);
        return odd(network, here, far, Fault::OspfTimerMismatch, timers).into_iter().collect();
    }
    // They hear one another, and do not get on with what they know.
    let stuck = |state: Option<&str>| state.is_some_and(|state| state.starts_with("Ex"));
    if stuck(seen) || stuck(seen_there) {
        let sizes = hop::sizes(here.host, &here.address.device, far.host, &far.address.device);
        let shown = seen.or(seen_there).unwrap_or_default().to_owned();
        let named = sizes.map(|one| {
            Finding { weight: Weight::Broken, ..one }.and(
                &here.host.name,
                Part::OspfNeighbors,
                format!("{} is in {shown}", far.address.ip()),
            )
        });
        return named.into_iter().collect();
    }
    filtered(network, here, far, seen)
}

/// Two ends differ: the one is named whose setting is rarer among all that were read.
fn odd(
    network: &Network<'_>,
    here: &End<'_>,
    far: &End<'_>,
    fault: Fault,
    setting: impl Fn(&OspfDevice) -> String,
) -> Option<Finding> {
    let (own, other) = (here.device?, far.device?);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for host in network.hosts {
        for one in host.ospf_devices.rows().iter().filter(|one| !one.is_passive) {
            *counts.entry(setting(one)).or_default() += 1;
        }
    }
    let count = |one: &OspfDevice| counts.get(&setting(one)).copied().unwrap_or_default();
    let (rare, common) = (count(own), count(other));
    // As many here as there: it is not known which end is meant, and both are named.
    if rare > common {
        return None;
    }
    let certainty = if rare < common { Certainty::Confirmed } else { Certainty::Likely };
    let shown = format!("{}: {}", own.name, setting(own));
    let one = Finding::new(
        (Weight::Broken, certainty),
        fault,
        here.object(),
        (&here.host.name, Part::OspfDevices, shown),
    );
    Some(one.and(&far.host.name, Part::OspfDevices, format!("{}: {}", other.name, setting(other))))
}

/// Nothing comes from the other end: what drops its packets.
fn filtered(network: &Network<'_>, here: &End<'_>, far: &End<'_>, seen: Option<&str>) -> Vec<Finding> {
    let flow = Flow {
        from: far.host.name.clone(),
        source: Some(far.address.ip()),
        to: here.address.ip(),
        protocol: Protocol::Other(PROTOCOL),
        port: None,
        is_marked: false,
    };
    let start =
        walk::Start { flow: &flow, is_answer: false, source: flow.source, destination: flow.to, seen: &[] };
    // A hello is for all routers of the link; what else they say is for one.
    let hello = Flow { to: ROUTERS, ..flow.clone() };
    let ends = ((far.host, far.address.device.as_str()), (here.host, here.address.device.as_str()));
    let hello = walk::on_link(network, &hello, Some(ends.0), ends.1);
    let all = walk::follow(network, far.host, start).findings;
    let found = hello.into_iter().chain(all).filter(|one| {
        matches!(
            one.fault,
            Fault::GuestFirewallDrop | Fault::GuestFirewallReject | Fault::GuestFirewallPolicyDrop
        )
    });
    let shown = format!("{} is {}", far.address.ip(), seen.unwrap_or("not known there"));
    found.map(|one| one.and(&here.host.name, Part::OspfNeighbors, shown.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::context::Context;
    use super::super::tests::{gathered, read};
    use super::*;

    #[track_caller]
    fn check(hosts: &[Host], context: &Context, expected: &[&str]) {
        let found: Vec<String> =
            super::check(&Network { hosts, context }).iter().map(ToString::to_string).collect();
        // A pair on a segment of three is seen once for each of the two others.
        let found: std::collections::BTreeSet<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }

    const FULL: &str = "Full/-";

    fn router(name: &str, address: &str, device: &str, neighbors: &[(&str, &str)]) -> Host {
        let near = neighbors
            .iter()
            .map(|(ip, state)| format!(r#""{ip}":[{{"nbrState":"{state}","ifaceAddress":"{ip}"}}]"#));
        let near = near.collect::<Vec<_>>().join(",");
        let all = gathered(address, None)
            .with(Part::Routing, "enabled ospfd\nrunning zebra ospfd")
            .with(Part::OspfDevices, &format!(r#"{{"interfaces":{{{device}}}}}"#))
            .with(Part::OspfNeighbors, &format!(r#"{{"neighbors":{{{near}}}}}"#));
        read(name, &all)
    }

    fn device(area: &str, hello: u32, more: &str) -> String {
        format!(r#""eth0":{{"area":"{area}","timerMsecs":{hello},"timerDeadSecs":{}{more}}}"#, hello / 250)
    }

    fn three(odd: &str, states: &[(&str, &str)]) -> Vec<Host> {
        let plain = device("0.0.0.0", 1000, "");
        let full = |ip| (ip, FULL);
        vec![
            router("r1", "10.0.0.1/24", odd, states),
            router("r2", "10.0.0.2/24", &plain, &[full("10.0.0.3")]),
            router("r3", "10.0.0.3/24", &plain, &[full("10.0.0.2")]),
        ]
    }

    #[test]
    fn the_rarer_setting_of_two_ends_is_the_odd_one() {
        let none = Context::default();
        let with = |device: &str, expected: &[&str]| check(&three(device, &[]), &none, expected);
        with(&device("0.0.0.1", 1000, ""), &["ospf_area_mismatch ospf/r1/eth0"]);
        with(&device("0.0.0.0", 2000, ""), &["ospf_timer_mismatch ospf/r1/eth0"]);
        with("", &["ospf_not_enabled ospf/r1/eth0"]);
        // Somebody set it passive, and nothing comes from it on purpose.
        with(&device("0.0.0.1", 1000, r#","timerPassiveIface":true"#), &[]);
        with(&device("0.0.0.0", 1000, ""), &[]);
    }

    #[test]
    fn of_two_that_differ_both_are_named() {
        let pair = [
            router("r1", "10.0.0.1/24", &device("0.0.0.1", 1000, ""), &[]),
            router("r2", "10.0.0.2/24", &device("0.0.0.0", 1000, ""), &[]),
        ];
        check(
            &pair,
            &Context::default(),
            &["ospf_area_mismatch ospf/r1/eth0", "ospf_area_mismatch ospf/r2/eth0"],
        );
        let alone = &pair[..1];
        check(alone, &Context::default(), &[]);
    }

    #[test]
    fn a_filter_that_drops_hellos_alone_is_named() {
        let plain = device("0.0.0.0", 1000, "");
        let rules = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -d 224.0.0.5/32 -p ospf -j DROP\nCOMMIT\n";
        let all = gathered("10.0.0.1/24", None)
            .with(Part::Routing, "enabled ospfd\nrunning zebra ospfd")
            .with(Part::OspfDevices, &format!(r#"{{"interfaces":{{{plain}}}}}"#))
            .with(Part::OspfNeighbors, r#"{"neighbors":{}}"#)
            .with(Part::FilterLegacy, rules);
        let deaf = read("r1", &all);
        let other = router("r2", "10.0.0.2/24", &plain, &[("10.0.0.1", "Init/-")]);
        let expected = ["guest_firewall_drop netfilter/r1/filter/INPUT/ospf/any"];
        check(&[deaf, other], &Context::default(), &expected);
    }

    #[test]
    fn neighbors_that_are_full_are_well_whatever_differs() {
        let plain = device("0.0.0.0", 1000, "");
        let pair = [
            router("r1", "10.0.0.1/24", &plain, &[("10.0.0.2", FULL)]),
            router("r2", "10.0.0.2/24", &plain, &[("10.0.0.1", "Full/DROther")]),
        ];
        check(&pair, &Context::default(), &[]);
    }
}
