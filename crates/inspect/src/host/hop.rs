//! What can be wrong at one machine of a path.

use std::net::IpAddr;

use super::alone;
use super::container;
use super::context::{Flow, Protocol};
use super::fault::Fault;
use super::filter;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::link::Link;
use super::model::Host;
use super::network::Network;
use super::object::Object;
use super::route::{Route, Routed, RoutedPacket};
use super::socket::Listener;
use super::walk::{self, Start};
use crate::netfilter::{Answer as FilterAnswer, Packet, State, Verdict};

const SURE: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);
const PROBABLE: (Weight, Certainty) = (Weight::Broken, Certainty::Likely);

fn link_object(host: &Host, device: &str) -> Object {
    Object::Link { host: host.name.clone(), device: device.to_owned() }
}

/// A device that is down; where its cable's other end was set down, that end.
pub(super) fn device_down(network: &Network<'_>, host: &Host, device: &str) -> Option<Finding> {
    let link = host.link(device)?;
    if link.carries() || link.is_loopback() {
        return None;
    }
    let flags = |link: &Link| format!("{}: <{}> state {}", link.name, link.flags.join(","), link.operstate);
    let proof = (host.name.as_str(), Part::Links, flags(link));
    if !link.is_up() {
        return Some(Finding::new(SURE, Fault::LinkDown, link_object(host, device), proof));
    }
    match network.peer(host, link).filter(|(_, end)| !end.is_up()) {
        Some((other, end)) => {
            let found = Finding::new(
                SURE,
                Fault::LinkDown,
                link_object(other, &end.name),
                (&other.name, Part::Links, flags(end)),
            );
            Some(found.and(&host.name, Part::Links, flags(link)))
        }
        None => Some(Finding::new(SURE, Fault::LinkDown, link_object(host, device), proof)),
    }
}

/// A network of containers of the machine itself covers an address that somebody else has.
pub(super) fn container_overlap(
    network: &Network<'_>,
    host: &Host,
    route: &Route,
    (via, next): (Option<IpAddr>, IpAddr),
    device: &str,
) -> Option<Finding> {
    let link = host.link(device)?;
    let has_answered = host.neighbor(next).is_some_and(|entry| entry.mac.is_some());
    if via.is_some() || has_answered || !container::is_inside(link, host.links.rows()) {
        return None;
    }
    let own = host.container_network(device);
    let owner = network.owners(next).into_iter().find(|(other, _)| other.name != host.name);
    // Nobody was read who has it: it is no container's, where the engine says which there are, and whoever has it is elsewhere.
    let is_nobodys = own.is_some_and(|own| own.lists_containers() && !own.has(next));
    let how = match (&owner, is_nobodys) {
        (Some(_), _) => SURE,
        (None, true) => PROBABLE,
        (None, false) => return None,
    };
    let object = Object::Route { host: host.name.clone(), prefix: route.object() };
    let found = Finding::new(how, Fault::ContainerOverlap, object, (&host.name, Part::Routes, route.line()));
    Some(match (owner, own) {
        (Some((other, address)), _) => {
            found.and(&other.name, Part::Addresses, format!("{} has {}", address.device, address.net))
        }
        (None, Some(own)) => {
            found.and(&host.name, own.engine.part(), format!("no container of {} has {next}", own.name))
        }
        (None, None) => found,
    })
}

/// Packets that a strict machine would answer by another device.
pub(super) fn reverse_path(host: &Host, input: &str, source: Option<IpAddr>) -> Option<Finding> {
    let source = source.filter(IpAddr::is_ipv4)?;
    let key = format!("net.ipv4.conf.{input}.rp_filter");
    let (own, all) = (host.number(&key)?, host.number("net.ipv4.conf.all.rp_filter").unwrap_or(0));
    if own.max(all) != 1 {
        return None;
    }
    let back = match host.routed(RoutedPacket { destination: source, source: None, input: None }) {
        Routed::By(route, _) if !route.throws_away() && route.kind != "local" => route.next_hops(),
        Routed::By(..) | Routed::Refused(_) | Routed::Nowhere => Vec::new(),
        Routed::NotKnown(_) => return None,
    };
    // No path back at all is said as what it is.
    if back.is_empty() || back.iter().any(|(_, device)| device == input) {
        return None;
    }
    let dropped = host.counters.now("TcpExt.IPReversePathFilter");
    let sure = if dropped > 0 { SURE } else { PROBABLE };
    let key = if own == 1 { key } else { "net.ipv4.conf.all.rp_filter".to_owned() };
    let leaves: Vec<&str> = back.iter().map(|(_, device)| device.as_str()).collect();
    let object = Object::Sysctl { host: host.name.clone(), key: key.clone() };
    let found =
        Finding::new(sure, Fault::RpFilterDrop, object, (&host.name, Part::Settings, format!("{key} = 1")));
    let found = found.and(
        &host.name,
        Part::Routes,
        format!("answers to {source} leave by {}, packets come by {input}", leaves.join(", ")),
    );
    Some(found.and(&host.name, Part::Counters, format!("IPReversePathFilter {dropped}")))
}

/// A machine in the middle that does not forward.
pub(super) fn forwarding(host: &Host, input: &str, six: bool) -> Option<Finding> {
    let off = |key: &str| host.number(key) == Some(0);
    let own = format!("net.ipv4.conf.{input}.forwarding");
    let key = match six {
        true => "net.ipv6.conf.all.forwarding".to_owned(),
        false if off("net.ipv4.ip_forward") => "net.ipv4.ip_forward".to_owned(),
        false => own,
    };
    if !off(&key) {
        return None;
    }
    let proof = (host.name.as_str(), Part::Settings, format!("{key} = 0"));
    Some(Finding::new(
        SURE,
        Fault::IpForwardOff,
        Object::Sysctl { host: host.name.clone(), key: key.clone() },
        proof,
    ))
}

/// What is missing where no route leads on.
pub(super) fn nowhere(network: &Network<'_>, host: &Host, start: Start<'_>, in_the_middle: bool) -> Finding {
    let to = start.destination;
    let six = to.is_ipv6();
    // What was on its own link is gone with the device.
    let own = host.global().find(|own| own.net.contains(&to));
    if let Some(found) = own.and_then(|own| device_down(network, host, &own.device)) {
        return found;
    }
    if !in_the_middle && let Some(found) = lost_address(network, host, six) {
        return found;
    }
    if start.is_answer && walk::needs_translation(Some(to), start.source.unwrap_or(to)) {
        // Whoever stands between a private network and this one has to translate.
        for one in start.seen.iter().filter(|one| one.input.is_some() && one.output.is_some()) {
            let Some(router) = network.host(&one.host) else { continue };
            let chains = filter::translations(router);
            if chains.iter().all(|chain| chain.rules.is_empty()) {
                let empty = chains.first().map(|chain| chain.object.clone());
                let object = empty.unwrap_or_else(|| Object::Chain {
                    host: router.name.clone(),
                    table: "nat".to_owned(),
                    chain: "postrouting".to_owned(),
                });
                let proof = (router.name.as_str(), Part::FilterNft, "no rule translates sources");
                let found = Finding::new(SURE, Fault::NatMissing, object, proof);
                return found.and(&host.name, Part::Routes, format!("no route to {to}"));
            }
        }
    }
    let default = host
        .routes
        .rows()
        .iter()
        .any(|route| route.is_default() && route.prefix.addr().is_ipv6() == six && route.table == "main");
    let prefix = if default { to.to_string() } else { "default".to_owned() };
    let fault = if start.is_answer || in_the_middle { Fault::NoReturnRoute } else { Fault::NoDefaultRoute };
    let proof = (host.name.as_str(), Part::Routes, format!("no route to {to}"));
    Finding::new(SURE, fault, Object::Route { host: host.name.clone(), prefix }, proof)
}

/// A machine that lost what it needs to send at all: its device, the device's state, its address.
fn lost_address(network: &Network<'_>, host: &Host, six: bool) -> Option<Finding> {
    if six {
        let off = |link: &&Link| host.number(&format!("net.ipv6.conf.{}.disable_ipv6", link.name)) == Some(1);
        let link = host.links.rows().iter().find(|link| !link.is_loopback() && off(link))?;
        let key = format!("net.ipv6.conf.{}.disable_ipv6", link.name);
        let proof = (host.name.as_str(), Part::Settings, format!("{key} = 1"));
        return Some(Finding::new(
            SURE,
            Fault::Ipv6Disabled,
            Object::Sysctl { host: host.name.clone(), key: key.clone() },
            proof,
        ));
    }
    let down = host.global().find(|own| host.link(&own.device).is_some_and(|link| !link.is_up()));
    if let Some(found) = down.and_then(|own| device_down(network, host, &own.device)) {
        return Some(found);
    }
    let expected = network.context.expected.iter().find_map(|expected| match expected {
        super::context::Expected::Address { host: own, device, net }
            if *own == host.name && !host.owns(net.addr()).is_yes() =>
        {
            Some((device.as_str(), net.addr()))
        }
        super::context::Expected::Address { .. }
        | super::context::Expected::Name { .. }
        | super::context::Expected::Resolver { .. }
        | super::context::Expected::DhcpServer { .. } => None,
    });
    if let Some((device, ip)) = expected {
        return Some(without(host, device, ip));
    }
    let bare = |link: &&Link| link.carries() && !link.is_loopback() && link.master.is_none();
    // An address of IPv6 is left where one of IPv4 is gone.
    if host.global().any(|own| own.ip().is_ipv4()) || host.addresses.read().is_none() {
        return None;
    }
    let used = |link: &&Link| host.global().any(|own| own.device == link.name);
    let links = host.links.rows();
    let link = links.iter().filter(bare).find(used).or_else(|| links.iter().find(bare))?;
    let proof =
        (host.name.as_str(), Part::Addresses, format!("{} is up and has no address of IPv4", link.name));
    Some(Finding::new(
        SURE,
        Fault::AddressMissing,
        Object::Address { host: host.name.clone(), device: link.name.clone() },
        proof,
    ))
}

/// Nobody has the address that is called, and one machine, no switch, has none at all: that one lost it, probably.
fn unaddressed(network: &Network<'_>, next: IpAddr) -> Option<Finding> {
    let is_switch = |one: &Host| one.links.rows().iter().any(|link| link.kind() == Some("bridge"));
    let hosts = network.hosts.iter().filter(|one| next.is_ipv4() && !is_switch(one));
    let mut all = hosts.filter_map(|one| lost_address(network, one, false));
    let mut only = all.next().filter(|found| found.fault == Fault::AddressMissing)?;
    only.certainty = Certainty::Likely;
    all.next().is_none().then_some(only)
}

/// A machine does not have the address that it should.
pub(super) fn without(host: &Host, device: &str, ip: IpAddr) -> Finding {
    let address = Object::Address { host: host.name.clone(), device: device.to_owned() };
    let Some(link) = host.link(device) else {
        // Of a list that was not read nobody knows what is missing in it.
        if host.links.read().is_none() {
            let proof = (host.name.as_str(), Part::Addresses, format!("no device has {ip}"));
            return Finding::new(PROBABLE, Fault::AddressMissing, address, proof);
        }
        let proof = (host.name.as_str(), Part::Links, format!("there is no {device}"));
        return Finding::new(SURE, Fault::LinkMissing, link_object(host, device), proof);
    };
    let others: Vec<String> = host
        .global()
        .filter(|own| own.device == device && own.ip().is_ipv4() == ip.is_ipv4())
        .map(|own| own.net.to_string())
        .collect();
    if others.is_empty() {
        if !link.is_up() {
            let proof = (host.name.as_str(), Part::Links, format!("{device} is not up"));
            return Finding::new(SURE, Fault::LinkDown, link_object(host, device), proof);
        }
        let proof =
            (host.name.as_str(), Part::Addresses, format!("{device} has no address; {ip} is expected"));
        return Finding::new(SURE, Fault::AddressMissing, address, proof);
    }
    let proof = (
        host.name.as_str(),
        Part::Addresses,
        format!("{device} has {}; {ip} is expected", others.join(", ")),
    );
    Finding::new(SURE, Fault::WrongAddress, address, proof)
}

/// The machine that should have an address and has not.
pub(super) fn lost(network: &Network<'_>, ip: IpAddr) -> Option<Finding> {
    let (host, device) = network.expected_owner(ip)?;
    host.owns(ip).is_no().then(|| without(host, device, ip))
}

/// What is wrong between a machine and its next hop on the link.
pub(super) fn neighbor(
    network: &Network<'_>,
    host: &Host,
    route: &Route,
    (via, next): (Option<IpAddr>, IpAddr),
    device: &str,
) -> Option<Finding> {
    let entry = host.neighbor(next)?;
    let owners: Vec<_> =
        network.owners(next).into_iter().filter(|(other, _)| other.name != host.name).collect();
    if let Some(mac) = &entry.mac {
        let [(owner, address)] = owners.as_slice() else { return None };
        let own = &owner.link(&address.device)?.address;
        if own == mac || own.is_empty() || owner.links.rows().iter().any(|link| &link.address == mac) {
            return None;
        }
        let object = Object::Neighbor { host: host.name.clone(), ip: next };
        let found =
            Finding::new(SURE, Fault::NeighborPoisoned, object, (&host.name, Part::Neighbors, entry.line()));
        return Some(found.and(&owner.name, Part::Links, format!("{} has {own}", address.device)));
    }
    if !entry.is_silent() {
        return None;
    }
    let silent = (host.name.as_str(), Part::Neighbors, entry.line());
    let both = std::iter::once(host).chain(owners.iter().map(|(owner, _)| *owner));
    for one in both {
        if let Some(rule) = filter::specials(one).into_iter().find(|special| special.fault == Fault::ArpDrop)
        {
            let found =
                Finding::new(SURE, Fault::ArpDrop, rule.object, (&one.name, Part::FilterNft, rule.line));
            return Some(found.and(&host.name, Part::Neighbors, entry.line()));
        }
    }
    // What keeps the owner from answering is said as what it is.
    for (owner, address) in &owners {
        if let Some(found) = device_down(network, owner, &address.device) {
            return Some(found);
        }
    }
    if let Some(found) = device_down(network, host, device).or_else(|| lost(network, next)) {
        return Some(found);
    }
    if via.is_none()
        && let Some(found) = wrong_length(network, host, device, next)
    {
        return Some(found.and(&host.name, Part::Neighbors, entry.line()));
    }
    if let Some(found) = isolated(
        network,
        host,
        device,
        owners.first().map(|(owner, address)| (*owner, address.device.as_str())),
    ) {
        return Some(found.and(&host.name, Part::Neighbors, entry.line()));
    }
    let ends = owners.iter().map(|(owner, address)| (*owner, address.device.as_str()));
    if let Some(found) = ends.chain([(host, device)]).find_map(|(end, by)| alone::overloaded(end, by)) {
        return Some(found.and(&host.name, Part::Neighbors, entry.line()));
    }
    if via.is_none()
        && owners.is_empty()
        && let Some(found) = unaddressed(network, next)
    {
        return Some(found.and(&host.name, Part::Neighbors, entry.line()));
    }
    via?;
    let object = Object::Route { host: host.name.clone(), prefix: route.object() };
    if owners.is_empty()
        && let Some(other) = other_gateway(network, host, device, next)
    {
        let found = Finding::new(SURE, Fault::WrongGateway, object, silent);
        return Some(found.and(&host.name, Part::Routes, route.line()).and(
            &other.0,
            Part::Addresses,
            other.1,
        ));
    }
    Some(Finding::new(PROBABLE, Fault::GatewayDead, object, silent).and(
        &host.name,
        Part::Routes,
        route.line(),
    ))
}

/// Another router of the segment: one that forwards and has an address in it.
fn other_gateway(network: &Network<'_>, host: &Host, device: &str, dead: IpAddr) -> Option<(String, String)> {
    let own = host.global().find(|own| own.device == device)?;
    network.segment(host, own).into_iter().find_map(|(other, address)| {
        let forwards = other.forwards(&address.device, dead.is_ipv6()).is_yes();
        forwards.then(|| (other.name.clone(), format!("{} forwards and has {}", other.name, address.net)))
    })
}

/// The own prefix is wider or narrower than that of everybody else on the segment.
fn wrong_length(network: &Network<'_>, host: &Host, device: &str, next: IpAddr) -> Option<Finding> {
    let own = host.global().find(|own| own.device == device && own.net.contains(&next))?;
    // The narrowest prefix of another machine that holds this address is the segment's.
    let near = network.segment(host, own).into_iter().filter(|(_, other)| other.net.contains(&own.ip()));
    let lengths: Vec<(String, u8)> =
        near.map(|(other, address)| (other.name.clone(), address.net.prefix_len())).collect();
    let (name, usual) = lengths.first()?;
    if *usual == own.net.prefix_len() || lengths.iter().any(|(_, length)| length != usual) {
        return None;
    }
    let object = Object::Address { host: host.name.clone(), device: device.to_owned() };
    let found = Finding::new(
        SURE,
        Fault::WrongNetmask,
        object,
        (&host.name, Part::Addresses, format!("{device} has {}", own.net)),
    );
    Some(found.and(name, Part::Addresses, format!("{name} has /{usual}")))
}

/// Both ends hang on ports that are kept apart.
fn isolated(
    network: &Network<'_>,
    host: &Host,
    device: &str,
    owner: Option<(&Host, &str)>,
) -> Option<Finding> {
    let port = |host: &Host, device: &str| {
        network.peer(host, host.link(device)?).filter(|(_, end)| end.is_isolated())
    };
    let (bridge, one) = port(host, device)?;
    let (other_bridge, other) = port(owner?.0, owner?.1)?;
    if bridge.name != other_bridge.name {
        return None;
    }
    let proof = (bridge.name.as_str(), Part::Links, format!("{}: isolated", one.name));
    let found = Finding::new(SURE, Fault::BridgePort, link_object(bridge, &one.name), proof);
    Some(found.and(&bridge.name, Part::Links, format!("{}: isolated", other.name)))
}

/// Returns the device by which a machine takes what another one sends by a device: an address that is called may be that of any device.
/// The ends of a cable, of a segment, and of a tunnel are known; nothing where none of these shows it.
pub(super) fn far_device<'a>(
    network: &Network<'_>,
    host: &Host,
    device: &str,
    other: &'a Host,
    called: &'a str,
) -> Option<&'a str> {
    let link = host.link(device)?;
    let near = |there: &str| {
        let own = || host.global().filter(|own| own.device == device);
        let mut others = other.global().filter(|one| one.device == there);
        others.any(|one| own().any(|own| own.net.contains(&one.ip()) && one.net.contains(&own.ip())))
    };
    if near(called) {
        return Some(called);
    }
    // What comes by a port of a bridge comes by the bridge.
    if let Some((_, far)) = network.peer(host, link).filter(|(end, _)| end.name == other.name) {
        let name = far.master.as_deref().unwrap_or(&far.name);
        return other.link(name).map(|far| far.name.as_str());
    }
    let devices = || other.links.rows().iter().map(|far| far.name.as_str());
    let same_kind = |name: &&str| other.link(name).is_some_and(|far| far.kind() == link.kind());
    let tunnel = || {
        let mut ends = devices().filter(same_kind);
        let only = ends.next().filter(|_| ends.next().is_none());
        only.filter(|_| link.encapsulates())
    };
    devices().find(|name| near(name)).or_else(tunnel)
}

/// The ends of a link take packets of different sizes. Of a tunnel each end says how much it puts into one packet of the network below
/// it, and takes whatever arrives.
pub(super) fn sizes(host: &Host, device: &str, other: &Host, other_device: &str) -> Option<Finding> {
    let (one, two) = (host.link(device)?, other.link(other_device)?);
    if one.mtu == two.mtu || one.mtu == 0 || two.mtu == 0 || one.is_loopback() {
        return None;
    }
    if one.is_layer_three_tunnel() || two.is_layer_three_tunnel() {
        return None;
    }
    let (narrow, end, wide) = if one.mtu < two.mtu { (host, one, two) } else { (other, two, one) };
    let proof = (
        narrow.name.as_str(),
        Part::Links,
        format!("{} mtu {}, the other end {}", end.name, end.mtu, wide.mtu),
    );
    let how = (Weight::Degraded, Certainty::Confirmed);
    Some(Finding::new(how, Fault::MtuMismatch, link_object(narrow, &end.name), proof))
}

/// Nobody listens, or not for those who call, or does not take them.
pub(super) fn listener(host: &Host, flow: &Flow) -> Option<Finding> {
    let protocol = match flow.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Icmp | Protocol::Other(_) => return None,
    };
    let port = flow.port?;
    let all = host.listeners.read()?;
    let own = all.iter().filter(|own| own.protocol == protocol && own.port == port);
    let object = Object::Service { host: host.name.clone(), protocol: protocol.to_owned(), port };
    let shown = |line: &str| (host.name.clone(), Part::Listeners, line.to_owned());
    let made = |fault, line: &str| {
        let (host, part, shows) = shown(line);
        Finding::new(SURE, fault, object.clone(), (&host, part, shows))
    };
    let Some(hearing) = own.clone().find(|own| own.hears(flow.to)) else {
        return Some(match own.clone().find(|own| own.is_local()) {
            Some(local) => made(Fault::BoundToLoopback, &local.line),
            None => made(Fault::NotListening, &format!("nobody listens on {protocol}/{port}")),
        });
    };
    busy(host, hearing)
}

/// A service that does not take who calls, or is kept from it by those who only begin to.
pub(super) fn busy(host: &Host, hearing: &Listener) -> Option<Finding> {
    let port = hearing.port;
    let made = |fault, line: &str| {
        let object = Object::Service { host: host.name.clone(), protocol: hearing.protocol.to_owned(), port };
        Finding::new(SURE, fault, object, (&host.name, Part::Listeners, line))
    };
    if hearing.protocol != "tcp" {
        return None;
    }
    if hearing.waiting > hearing.backlog {
        let found = made(Fault::AcceptQueueFull, &hearing.line);
        return Some(found.and(
            &host.name,
            Part::Counters,
            format!("ListenOverflows {}", host.counters.now("TcpExt.ListenOverflows")),
        ));
    }
    let half: Vec<IpAddr> = host
        .connections
        .rows()
        .iter()
        .filter(|one| one.state == "SYN-RECV" && one.local.1 == port)
        .map(|one| one.peer.0)
        .collect();
    let peers: std::collections::BTreeSet<&IpAddr> = half.iter().collect();
    let (full, dropped) =
        (host.counters.now("TcpExt.TCPReqQFullDrop"), host.counters.now("TcpExt.ListenDrops"));
    // Without cookies the kernel keeps the last quarter of the backlog for those it knows: it drops before the queue is full.
    let backlog = host.number("net.ipv4.tcp_max_syn_backlog").and_then(|most| usize::try_from(most).ok());
    let is_short = host.number("net.ipv4.tcp_syncookies") == Some(0)
        && backlog.is_some_and(|most| half.len() >= most.saturating_sub(most / 4));
    if peers.len() >= 4 && (full > 0 || (is_short && dropped > 0)) {
        let found = made(
            Fault::SynFlood,
            &format!("{} connections of {} addresses are half open", half.len(), peers.len()),
        );
        let counted =
            if full > 0 { format!("TCPReqQFullDrop {full}") } else { format!("ListenDrops {dropped}") };
        return Some(found.and(&host.name, Part::Counters, counted));
    }
    None
}

/// Names what a filter did.
pub(super) fn refused(
    host: &Host,
    packet: &Packet,
    (flow, state): (&Flow, State),
    answer: &FilterAnswer,
) -> Finding {
    let decided = answer.rule.as_ref();
    if state == State::Invalid {
        let object = Object::Flow {
            src: packet.dst,
            dst: packet.src,
            protocol: flow.protocol.to_string(),
            port: flow.port,
        };
        let rule = decided.map_or_else(|| "the policy".to_owned(), |rule| rule.raw.clone());
        let proof =
            (host.name.as_str(), Part::FilterNft, format!("{rule}: {} sees the answers alone", host.name));
        return Finding::new(SURE, Fault::AsymmetricPath, object, proof);
    }
    let Some(rule) = decided else {
        let policy = answer.policy.clone().unwrap_or_default();
        let (table, chain) = policy.rsplit_once(' ').unwrap_or_default();
        let object = Object::Chain {
            host: host.name.clone(),
            table: table.replacen(' ', ":", 1),
            chain: chain.to_owned(),
        };
        return Finding::new(
            SURE,
            Fault::GuestFirewallPolicyDrop,
            object,
            (&host.name, Part::FilterNft, format!("policy of {policy}")),
        );
    };
    let fault = match answer.verdict {
        Verdict::Reject => Fault::GuestFirewallReject,
        Verdict::Drop | Verdict::Accept | Verdict::Indeterminate => Fault::GuestFirewallDrop,
    };
    let (protocol, port) = about(&rule.raw, packet);
    let object = Object::FilterRule {
        host: host.name.clone(),
        table: rule.table.replacen(' ', ":", 1),
        chain: rule.chain.clone(),
        protocol,
        port,
    };
    Finding::new(SURE, fault, object, (&host.name, Part::FilterNft, rule.raw.clone()))
}

/// Reads from a rule which protocol and which port it names.
fn about(raw: &str, packet: &Packet) -> (String, String) {
    let names = |protocol: &str| {
        raw.contains(&format!("{protocol} dport"))
            || raw.contains(&format!("{protocol} sport"))
            || raw.contains(&format!("-p {protocol}"))
            || raw.contains(&format!("protocol {protocol}"))
            || raw.contains(&format!("l4proto {protocol}"))
            || raw.contains(&format!("{protocol} type"))
            || raw.contains(&format!("{protocol} flags"))
    };
    let known = ["tcp", "udp", "icmpv6", "icmp", "ospf", "esp", "gre"];
    let protocol = known.into_iter().find(|protocol| names(protocol)).unwrap_or("any");
    let asks_port = raw.contains("dport") || raw.contains("--dports");
    let port = packet.dport.filter(|_| asks_port).map_or_else(|| "any".to_owned(), |port| port.to_string());
    (protocol.to_owned(), port)
}
