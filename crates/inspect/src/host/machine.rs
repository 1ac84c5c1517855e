//! What is odd about a machine as a whole, where no flow tells what matters.

use std::collections::BTreeSet;

use super::answer::Answer;
use super::context::Expected;
use super::fault::Fault;
use super::filter;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::hop;
use super::link::{Link, Neighbor};
use super::model::Host;
use super::network::Network;
use super::object::Object;
use super::resolver::AnswerKind;
use super::route::Route;

const SURE: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);
const NOTICED: (Weight, Certainty) = (Weight::Noticed, Certainty::Likely);

/// Finds what is odd about a machine.
pub(super) fn check(network: &Network<'_>, host: &Host) -> Vec<Finding> {
    let mut found = addresses(network, host);
    found.extend(devices(network, host));
    found.extend(
        host.routes
            .rows()
            .iter()
            .filter(|route| route.table == "main")
            .flat_map(|route| next_hops(host, route)),
    );
    found.extend(default_route(host));
    found.extend(host.listeners.rows().iter().filter_map(|own| hop::busy(host, own)));
    found.extend(reverse_path(host));
    found.extend(own_names(network, host));
    found.extend(forwarding(host));
    found
}

/// Devices that have an address and are down; where the other end of the cable was set down, that end.
fn devices(network: &Network<'_>, host: &Host) -> Vec<Finding> {
    let counts = |link: &&Link| {
        let used = host.global().any(|address| address.device == link.name);
        let plain = link.kind().is_none_or(|kind| !matches!(kind, "bridge" | "dummy" | "tun" | "vxlan"));
        used && plain && !link.is_loopback() && link.operstate != "UNKNOWN"
    };
    let down = host.links.rows().iter().filter(counts);
    down.filter_map(|link| hop::device_down(network, host, &link.name)).collect()
}

/// Addresses that it should have, and whether it has any.
fn addresses(network: &Network<'_>, host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    for expected in &network.context.expected {
        let Expected::Address { host: own, device, net } = expected else { continue };
        if *own != host.name {
            continue;
        }
        let off = format!("net.ipv6.conf.{device}.disable_ipv6");
        if net.addr().is_ipv6() && host.number(&off) == Some(1) {
            let object = Object::Sysctl { host: host.name.clone(), key: off.clone() };
            found.push(Finding::new(
                SURE,
                Fault::Ipv6Disabled,
                object,
                (&host.name, Part::Settings, format!("{off} = 1")),
            ));
            continue;
        }
        match host.owns(net.addr()) {
            Answer::No => {
                let one = hop::without(host, device, net.addr());
                // A machine that moved to another network, and works there, is not broken.
                let weight = if works(host) { Weight::Noticed } else { one.weight };
                found.push(Finding { weight, ..one });
            }
            Answer::Yes => {
                let other = host
                    .global()
                    .find(|one| one.ip() == net.addr() && one.net.prefix_len() != net.prefix_len());
                let object = Object::Address { host: host.name.clone(), device: device.clone() };
                found.extend(other.map(|other| {
                    let proof = (
                        host.name.as_str(),
                        Part::Addresses,
                        format!("{} is {}, and was {net}", other.device, other.net),
                    );
                    Finding::new(SURE, Fault::WrongNetmask, object, proof)
                }));
            }
            Answer::NotKnown(_) => {}
        }
    }
    let is_bare = |link: &&Link| {
        link.carries() && !link.is_loopback() && link.master.is_none() && link.link_type == "ether"
            // A switch has no address, and needs none.
            && link.kind() != Some("bridge")
    };
    let has_none = host.addresses.read().is_some() && host.global().next().is_none();
    if has_none
        && found.is_empty()
        && let Some(link) = host.links.rows().iter().find(is_bare)
    {
        let object = Object::Address { host: host.name.clone(), device: link.name.clone() };
        let proof = (
            host.name.as_str(),
            Part::Addresses,
            format!("{} is up, and the machine has no address", link.name),
        );
        found.push(Finding::new((Weight::Broken, Certainty::Likely), Fault::AddressMissing, object, proof));
    }
    found.extend(host.global().filter(|own| own.is_duplicate).map(|own| {
        let proof = (
            host.name.as_str(),
            Part::Addresses,
            format!("{} on {}: somebody else has it", own.net, own.device),
        );
        Finding::new(SURE, Fault::DuplicateAddress, Object::Host { what: own.ip().to_string() }, proof)
    }));
    found
}

/// Tells whether its default gateway answers.
fn works(host: &Host) -> bool {
    let gateways = host.routes.rows().iter().filter(|route| route.is_default()).flat_map(Route::next_hops);
    gateways.filter_map(|(via, _)| host.neighbor(via?)).any(|entry| entry.mac.is_some())
}

/// Next hops that nobody answers for.
fn next_hops(host: &Host, route: &Route) -> Vec<Finding> {
    let hops = route.next_hops();
    // That nobody answers behind a device that is down is no second fault.
    let is_down = |device: &str| host.link(device).is_some_and(|link| !link.carries());
    if route.throws_away() || hops.iter().any(|(_, device)| is_down(device)) {
        return Vec::new();
    }
    let dead: Vec<&Neighbor> = hops
        .iter()
        .filter_map(|(via, _)| host.neighbor((*via)?))
        .filter(|entry| entry.mac.is_none() && entry.is("FAILED"))
        .collect();
    // Where another default route works, the machine is not cut off: often IPv6 is dead and nobody uses it.
    let is_only = route.is_default() && !works(host);
    let (fault, how) = match (dead.len() < hops.len(), is_only) {
        (true, _) => (Fault::EcmpLeg, (Weight::Degraded, Certainty::Confirmed)),
        (false, true) => (Fault::GatewayDead, (Weight::Broken, Certainty::Likely)),
        (false, false) => (Fault::GatewayDead, (Weight::Degraded, Certainty::Likely)),
    };
    let object = || Object::Route { host: host.name.clone(), prefix: route.object() };
    let made = |entry: &&Neighbor| {
        let one = Finding::new(how, fault, object(), (&host.name, Part::NeighborsLater, entry.line()));
        one.and(&host.name, Part::Routes, route.line())
    };
    dead.iter().map(made).collect()
}

/// A machine with a network and no default route: often on purpose.
fn default_route(host: &Host) -> Option<Finding> {
    let inner = |device: &str| device.starts_with("docker") || device.starts_with("virbr");
    let families: BTreeSet<bool> =
        host.global().filter(|own| !inner(&own.device)).map(|own| own.ip().is_ipv4()).collect();
    // A default route of IPv6 carries nothing of IPv4.
    let four = families.contains(&true);
    let leads =
        |route: &Route| route.is_default() && !route.throws_away() && route.prefix.addr().is_ipv4() == four;
    let has_network = !families.is_empty();
    let is_whole = host.routes.read().is_some() && host.has_read(Part::Routes6);
    if !has_network || !is_whole || host.routes.rows().iter().any(leads) {
        return None;
    }
    let object = Object::Route { host: host.name.clone(), prefix: "default".to_owned() };
    let proof = (host.name.as_str(), Part::Routes, "no default route in any table");
    Some(Finding::new(NOTICED, Fault::NoDefaultRoute, object, proof))
}

/// Packets that were refused just now because answers would leave by another device.
fn reverse_path(host: &Host) -> Option<Finding> {
    let grew = host.counters.growth("TcpExt.IPReversePathFilter");
    if grew == 0 {
        return None;
    }
    let key = |device: &str| format!("net.ipv4.conf.{device}.rp_filter");
    let strict =
        host.links.rows().iter().map(|link| key(&link.name)).filter(|key| host.number(key) == Some(1));
    let strict: Vec<String> = strict.collect();
    let key = match strict.as_slice() {
        [one] if host.number(&key("all")) != Some(1) => one.clone(),
        _ => key("all"),
    };
    let proof = (host.name.as_str(), Part::CountersLater, format!("IPReversePathFilter grew by {grew}"));
    let object = Object::Sysctl { host: host.name.clone(), key };
    Some(Finding::new((Weight::Degraded, Certainty::Confirmed), Fault::RpFilterDrop, object, proof))
}

/// A line of its own file that says something else than every server that was asked.
fn own_names(network: &Network<'_>, host: &Host) -> Vec<Finding> {
    let is_known = |name: &str| {
        network
            .context
            .expected
            .iter()
            .any(|one| matches!(one, Expected::Name { name: own, .. } if own == name))
    };
    let mut found = Vec::new();
    for (name, ip) in host.hosts.iter().filter(|(name, ip)| !is_known(name) && !ip.is_loopback()) {
        let said =
            host.answers.iter().filter(|answer| answer.name == *name).filter_map(|answer| {
                match &answer.kind {
                    AnswerKind::Answered(all) if all.iter().any(|one| one.is_ipv4() == ip.is_ipv4()) => {
                        Some(all)
                    }
                    AnswerKind::Answered(_)
                    | AnswerKind::Status(_)
                    | AnswerKind::Refused
                    | AnswerKind::Silent
                    | AnswerKind::Unreachable => None,
                }
            });
        let said: Vec<_> = said.collect();
        if said.is_empty() || said.iter().any(|all| all.contains(ip)) {
            continue;
        }
        let object = Object::Resolver { host: host.name.clone(), what: name.clone() };
        let one = Finding::new(
            (Weight::Degraded, Certainty::Likely),
            Fault::HostsOverride,
            object,
            (&host.name, Part::Hosts, format!("{ip} {name}")),
        );
        let shown: Vec<String> = said.iter().flat_map(|all| all.iter().map(ToString::to_string)).collect();
        found.push(one.and(&host.name, Part::Answers, format!("servers say {}", shown.join(", "))));
    }
    found
}

/// It translates sources for others, and passes nothing on.
fn forwarding(host: &Host) -> Option<Finding> {
    let key = "net.ipv4.ip_forward";
    if host.number(key) != Some(0) {
        return None;
    }
    let rule = filter::translations(host).into_iter().find_map(|chain| chain.rules.into_iter().next())?;
    let object = Object::Sysctl { host: host.name.clone(), key: key.to_owned() };
    let one = Finding::new(
        NOTICED,
        Fault::IpForwardOff,
        object,
        (&host.name, Part::Settings, format!("{key} = 0")),
    );
    Some(one.and(&host.name, Part::FilterNft, rule))
}
