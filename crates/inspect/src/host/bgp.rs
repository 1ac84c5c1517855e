//! What routers that speak BGP do not agree about, and what they announce that they should not.

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;

use super::context::{Flow, Protocol};
use super::fault::Fault;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::model::Host;
use super::network::Network;
use super::object::Object;
use super::routing::{BgpPeer, BgpRoute};
use super::walk;

const SURE: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);
const LIKELY: (Weight, Certainty) = (Weight::Broken, Certainty::Likely);

/// The port of BGP.
const PORT: u16 = 179;

/// Finds what is wrong with sessions and announcements.
pub(super) fn check(network: &Network<'_>) -> Vec<Finding> {
    let mut found = daemons(network);
    for (host, peer) in sessions(network) {
        if peer.has_too_many {
            let most = peer.max_prefixes.map_or_else(|| "the limit".to_owned(), |most| most.to_string());
            let proof = (
                host.name.as_str(),
                Part::BgpPeers,
                format!("{} is {}: more than {most} prefixes", peer.ip, peer.state),
            );
            found.push(Finding::new(SURE, Fault::BgpMaxPrefix, session(host, peer), proof));
        }
        found.extend(numbers(network, host, peer));
        found.extend(filtered(network, host, peer));
    }
    for host in network.hosts {
        found.extend(blackholes(network, host));
        found.extend(foreign(network, host));
    }
    for flow in &network.context.flows {
        found.extend(silence(network, flow.to));
        let own = network.host(&flow.from);
        let from =
            flow.source.or_else(|| own.and_then(|own| own.global().next()).map(super::link::Address::ip));
        found.extend(from.and_then(|from| silence(network, from)));
    }
    found
}

/// Tells whether a finding about a missing route only follows from what is wrong with routing.
pub(super) fn explains(network: &Network<'_>, found: &[Finding], one: &Finding) -> bool {
    let is_routing = |own: &&Finding| {
        own.weight == Weight::Broken
            && matches!(
                own.fault,
                Fault::BgpAsnMismatch
                    | Fault::BgpMaxPrefix
                    | Fault::BgpNotAnnounced
                    | Fault::BgpBlackholeCommunity
                    | Fault::BgpHijack
                    | Fault::RoutingDaemonDown
                    | Fault::OspfAreaMismatch
                    | Fault::OspfNotEnabled
                    | Fault::OspfTimerMismatch
            )
            || is_of_session(own)
    };
    let Some(at) = one.object.host().and_then(|host| network.host(host)) else { return false };
    if matches!(one.fault, Fault::NoReturnRoute | Fault::NoDefaultRoute | Fault::EcmpLeg) {
        let speaks =
            !at.bgp_peers.rows().is_empty() || at.ospf_devices.rows().iter().any(|own| !own.is_passive);
        // Who has no device left on which it speaks is named itself.
        let is_named =
            found.iter().any(|own| own.fault == Fault::OspfNotEnabled && own.object.host() == Some(&at.name));
        return (speaks || is_named) && found.iter().any(|own| is_routing(&own));
    }
    // Whoever claims an address of another's does not offer its services.
    matches!(one.fault, Fault::NotListening | Fault::BoundToLoopback | Fault::GuestFirewallReject)
        && found.iter().any(|own| own.fault == Fault::BgpHijack && own.object.host() == Some(&at.name))
}

fn is_of_session(found: &Finding) -> bool {
    found.evidence.iter().any(|one| matches!(one.part, Part::BgpPeers | Part::OspfNeighbors))
}

fn session(host: &Host, peer: &BgpPeer) -> Object {
    Object::Bgp { host: host.name.clone(), what: peer.ip.to_string() }
}

fn announced(host: &Host, prefix: &IpNet) -> Object {
    Object::Bgp { host: host.name.clone(), what: prefix.to_string() }
}

fn sessions<'a>(network: &Network<'a>) -> impl Iterator<Item = (&'a Host, &'a BgpPeer)> {
    network.hosts.iter().flat_map(|host| host.bgp_peers.rows().iter().map(move |peer| (host, peer)))
}

/// Returns the other end of a session: the machine, and what it says of this one.
fn far<'a>(network: &Network<'a>, host: &Host, peer: &BgpPeer) -> Option<(&'a Host, &'a BgpPeer)> {
    let others = network.hosts.iter().filter(|other| other.name != host.name && other.owns(peer.ip).is_yes());
    others.into_iter().find_map(|other| {
        let back = other.bgp_peers.rows().iter().find(|back| host.owns(back.ip).is_yes())?;
        Some((other, back))
    })
}

fn daemons(network: &Network<'_>) -> Vec<Finding> {
    let one = |host: &Host| {
        let known = host.daemons.read()?;
        let down: Vec<&str> = known.down().collect();
        let first = down.first()?;
        let object = Object::Unit { host: host.name.clone(), unit: "frr".to_owned() };
        let shown = format!("{first} is enabled; those that answer: {}", known.running.join(" "));
        Some(Finding::new(SURE, Fault::RoutingDaemonDown, object, (&host.name, Part::Routing, shown)))
    };
    network.hosts.iter().filter_map(one).collect()
}

/// The own number is not what the other end expects. Who else agrees with whom settles which end is wrong.
fn numbers(network: &Network<'_>, host: &Host, peer: &BgpPeer) -> Option<Finding> {
    let (other, back) = far(network, host, peer)?;
    let (own, expected) = (peer.local_as?, back.remote_as?);
    if own == expected || peer.is_up() {
        return None;
    }
    let views = host.bgp_peers.rows().iter().filter_map(|one| far(network, host, one));
    let views: Vec<Option<u32>> =
        views.filter(|(one, _)| one.name != other.name).map(|(_, back)| back.remote_as).collect();
    let shown = (
        format!("it is {own} toward {}", peer.ip),
        format!("{} expects {expected} of {}", other.name, back.ip),
    );
    // Another neighbor takes it for what it is: the end that expects otherwise is wrong.
    let (at, said, how) = if views.contains(&Some(own)) {
        (session(other, back), (shown.1, shown.0), SURE)
    } else if views.contains(&Some(expected)) {
        (session(host, peer), shown, SURE)
    } else {
        (session(host, peer), shown, LIKELY)
    };
    let (first, second) = if at.host() == Some(&host.name) { (host, other) } else { (other, host) };
    let found = Finding::new(how, Fault::BgpAsnMismatch, at, (&first.name, Part::BgpPeers, said.0));
    Some(found.and(&second.name, Part::BgpPeers, said.1))
}

/// A session whose ends agree and that is down: what stops its packets.
fn filtered(network: &Network<'_>, host: &Host, peer: &BgpPeer) -> Vec<Finding> {
    let Some((other, back)) = far(network, host, peer) else { return Vec::new() };
    if peer.is_up() || peer.has_too_many || back.has_too_many {
        return Vec::new();
    }
    let flow = Flow {
        from: host.name.clone(),
        source: Some(back.ip),
        to: peer.ip,
        protocol: Protocol::Tcp,
        port: Some(PORT),
        is_marked: false,
    };
    let start =
        walk::Start { flow: &flow, is_answer: false, source: flow.source, destination: flow.to, seen: &[] };
    let found = walk::follow(network, host, start).findings.into_iter().filter(|one| {
        matches!(
            one.fault,
            Fault::GuestFirewallDrop | Fault::GuestFirewallReject | Fault::GuestFirewallPolicyDrop
        )
    });
    let shown = format!("{} toward {} is {}", host.name, other.name, peer.state);
    found.map(|one| one.and(&host.name, Part::BgpPeers, shown.clone())).collect()
}

/// Networks that a machine announces itself, and their owners: who has which system's number.
fn origin<'a>(network: &Network<'a>, at: &'a Host, route: &BgpRoute) -> Option<&'a Host> {
    let own =
        |host: &Host| host.bgp_routes.rows().iter().any(|one| one.prefix == route.prefix && one.is_own());
    if route.is_own() {
        return Some(at);
    }
    let last: BTreeSet<u32> = route.paths.iter().filter_map(|path| path.last().copied()).collect();
    let is_of = |host: &Host| {
        host.bgp_peers.rows().iter().filter_map(|peer| peer.local_as).any(|number| last.contains(&number))
    };
    network.hosts.iter().find(|host| is_of(host) && own(host))
}

fn blackholes(network: &Network<'_>, host: &Host) -> Vec<Finding> {
    // A single address under attack is thrown away on purpose.
    let wide = |route: &&BgpRoute| route.prefix.prefix_len() < route.prefix.max_prefix_len();
    let routes = host.bgp_blackholes.rows().iter().filter(wide);
    let made = |route: &BgpRoute| {
        let by = origin(network, host, route).unwrap_or(host);
        let shown = format!("{} has the community blackhole", route.prefix);
        let found = Finding::new(
            SURE,
            Fault::BgpBlackholeCommunity,
            announced(by, &route.prefix),
            (&host.name, Part::BgpBlackholes, shown),
        );
        if by.name == host.name {
            found
        } else {
            found.and(&by.name, Part::BgpRoutes, format!("{} is announced here", route.prefix))
        }
    };
    routes.map(made).collect()
}

/// Addresses that a machine announces, though they are another's, on a network that hangs on another router.
fn foreign(network: &Network<'_>, host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    for route in host.bgp_routes.rows().iter().filter(|route| route.is_own()) {
        // Whoever is in the network itself, or has a route toward it, may say so.
        let near = |own: &super::link::Address| own.net.contains(&route.prefix.addr());
        let leads = |own: &super::route::Route| {
            own.prefix.contains(&route.prefix)
                && !own.is_default()
                && own.protocol != "bgp"
                && own.table == "main"
                && own.device.as_deref() != Some("lo")
                && !own.throws_away()
        };
        if host.global().any(near) || host.routes.rows().iter().any(leads) {
            continue;
        }
        let others = network.hosts.iter().filter(|other| other.name != host.name);
        let owner = others.clone().find_map(|other| {
            let own = other.global().find(|own| route.prefix.contains(&own.ip()))?;
            Some((other, own))
        });
        let router = others.into_iter().find(|other| {
            other.bgp_routes.rows().iter().any(|one| one.is_own() && one.prefix.contains(&route.prefix))
        });
        let (Some((owner, own)), Some(router)) = (owner, router) else { continue };
        let one = Finding::new(
            SURE,
            Fault::BgpHijack,
            announced(host, &route.prefix),
            (&host.name, Part::BgpRoutes, format!("{} is announced here", route.prefix)),
        );
        let one = one.and(&owner.name, Part::Addresses, format!("{} {}", own.device, own.net));
        found.push(one.and(&router.name, Part::BgpRoutes, format!("{} announces the network", router.name)));
    }
    found
}

/// The network of an address hangs on a router that speaks BGP and says nothing of it.
fn silence(network: &Network<'_>, ip: IpAddr) -> Option<Finding> {
    let router = |host: &&Host| host.bgp_peers.rows().iter().any(BgpPeer::is_up);
    let on = |host: &Host| host.global().find(|own| own.net.contains(&ip)).map(|own| own.net.trunc());
    let (host, prefix) = network.hosts.iter().filter(router).find_map(|host| Some((host, on(host)?)))?;
    let table = host.bgp_routes.read()?;
    let covers = |route: &BgpRoute| route.prefix.contains(&ip);
    let others =
        || network.hosts.iter().filter(router).filter(|other| other.name != host.name && on(other).is_none());
    // Where somebody learned of it, it was announced.
    if others().any(|other| other.bgp_routes.rows().iter().any(covers))
        || others().any(|other| other.bgp_routes.read().is_none())
    {
        return None;
    }
    let leads = |other: &Host| other.routes.rows().iter().any(|own| own.prefix.contains(&ip));
    let lost = others().find(|other| other.routes.read().is_some() && !leads(other))?;
    let said = if table.iter().any(covers) { "it has it, and tells nobody" } else { "no route of BGP to it" };
    let one = Finding::new(
        SURE,
        Fault::BgpNotAnnounced,
        announced(host, &prefix),
        (&host.name, Part::BgpRoutes, format!("{prefix} is connected: {said}")),
    );
    Some(one.and(&lost.name, Part::Routes, format!("no route to {ip}")))
}

#[cfg(test)]
mod tests {
    use super::super::context::Context;
    use super::super::gathered::Gathered;
    use super::super::tests::{gathered, read};
    use super::*;

    #[track_caller]
    fn check(hosts: &[Host], context: &Context, expected: &[&str]) {
        let found: Vec<String> =
            super::check(&Network { hosts, context }).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_route_that_is_missing_follows_from_what_keeps_routers_apart() {
        let device = |area: &str| format!(r#"{{"interfaces":{{"eth0":{{"area":"{area}"}}}}}}"#);
        let router = |name: &str, address: &str, area: &str| {
            let all = gathered(address, None).with(Part::Routing, "running ospfd");
            read(name, &all.with(Part::OspfDevices, &device(area)).with(Part::OspfNeighbors, ""))
        };
        let flow = Flow {
            from: "r1".to_owned(),
            source: None,
            to: "10.9.0.7".parse().unwrap(),
            protocol: Protocol::Tcp,
            port: Some(80),
            is_marked: false,
        };
        let context = Context { flows: vec![flow], ..Context::default() };
        let said = |hosts: &[Host]| -> Vec<String> {
            super::super::judge(hosts, &context).findings.iter().map(ToString::to_string).collect()
        };
        let (first, second) =
            (router("r1", "10.0.0.1/24", "0.0.0.0"), router("r2", "10.0.0.2/24", "0.0.0.1"));
        assert_eq!(said(std::slice::from_ref(&first)), ["no_default_route route/r1/default"]);
        assert_eq!(
            said(&[first, second]),
            ["ospf_area_mismatch ospf/r1/eth0", "ospf_area_mismatch ospf/r2/eth0"]
        );
    }

    fn peer(ip: &str, (own, remote): (u32, u32), state: &str) -> String {
        format!(r#""{ip}":{{"localAs":{own},"remoteAs":{remote},"bgpState":"{state}"}}"#)
    }

    fn router(name: &str, address: &str, peers: &[String], routes: &str) -> Host {
        let peers = format!("{{{}}}", peers.join(","));
        read(name, &speaking(address, &peers, routes))
    }

    fn speaking(address: &str, peers: &str, routes: &str) -> Gathered {
        gathered(address, None)
            .with(Part::BgpPeers, peers)
            .with(Part::BgpRoutes, &format!(r#"{{"routes":{{{routes}}}}}"#))
            .with(Part::BgpBlackholes, "")
    }

    const OWN: &str = r#"[{"valid":true,"path":""}]"#;

    #[test]
    fn who_is_alone_with_a_number_has_the_wrong_one() {
        let all = |own: u32, first: u32, second: u32| {
            [
                router(
                    "r1",
                    "10.0.0.1/24",
                    &[peer("10.0.0.2", (own, 2), "Idle"), peer("10.0.0.3", (own, 3), "Idle")],
                    "",
                ),
                router("r2", "10.0.0.2/24", &[peer("10.0.0.1", (2, first), "Idle")], ""),
                router("r3", "10.0.0.3/24", &[peer("10.0.0.1", (3, second), "Idle")], ""),
            ]
        };
        let none = Context::default();
        check(
            &all(9, 1, 1),
            &none,
            &["bgp_asn_mismatch bgp/r1/10.0.0.2", "bgp_asn_mismatch bgp/r1/10.0.0.3"],
        );
        check(&all(1, 8, 1), &none, &["bgp_asn_mismatch bgp/r2/10.0.0.1"]);
        check(&all(1, 1, 1), &none, &[]);
        // What the other end says was not read: nothing is known.
        check(&all(9, 1, 1)[..1], &none, &[]);
    }

    #[test]
    fn a_network_that_hangs_on_a_router_and_that_nobody_learned_of_is_not_announced() {
        let up = |ip: &str, own, remote| [peer(ip, (own, remote), "Established")];
        let near = |routes: &str| router("r1", "10.9.0.1/24", &up("10.0.0.2", 1, 2), routes);
        let far = |routes: &str| router("r2", "10.0.0.2/24", &up("10.0.0.1", 2, 1), routes);
        let asked = |hosts: &[Host]| {
            let network = Network { hosts, context: &Context::default() };
            silence(&network, "10.9.0.7".parse().unwrap()).map(|one| one.to_string())
        };
        let expected = Some("bgp_not_announced bgp/r1/10.9.0.0/24".to_owned());
        assert_eq!(asked(&[near(""), far("")]), expected);
        assert_eq!(asked(&[near(&format!(r#""10.9.0.0/24":{OWN}"#)), far("")]), expected);
        assert_eq!(asked(&[near(""), far(r#""10.9.0.0/24":[{"valid":true,"path":"1"}]"#)]), None);
        let closed = read(
            "r2",
            &gathered("10.0.0.2/24", None).with(Part::BgpPeers, &format!("{{{}}}", up("10.0.0.1", 2, 1)[0])),
        );
        assert_eq!(asked(&[near(""), closed]), None);
    }

    #[test]
    fn who_announces_the_address_of_another_takes_it_away() {
        let none = Context::default();
        let host = read("b", &gathered("10.9.0.7/24", None));
        let leaf = router(
            "r1",
            "10.9.0.1/24",
            &[peer("10.0.0.2", (1, 2), "Established")],
            &format!(r#""10.9.0.0/24":{OWN}"#),
        );
        let thief = |address: &str| {
            router(
                "r2",
                address,
                &[peer("10.0.0.1", (2, 1), "Established")],
                &format!(r#""10.9.0.7/32":{OWN}"#),
            )
        };
        check(&[host.clone(), leaf.clone(), thief("10.0.0.2/24")], &none, &["bgp_hijack bgp/r2/10.9.0.7/32"]);
        // A router of the same network may say where a machine of it is, and anycast is on nobody's card.
        check(&[host, leaf.clone(), thief("10.9.0.2/24")], &none, &[]);
        check(&[leaf, thief("10.0.0.2/24")], &none, &[]);
    }

    #[test]
    fn a_whole_network_is_not_thrown_away_on_purpose_and_a_victim_is() {
        let said = |prefix: &str| {
            let routes = format!(r#""{prefix}":[{{"valid":true,"path":"2"}}]"#);
            let hears =
                speaking("10.0.0.1/24", &format!("{{{}}}", peer("10.0.0.2", (1, 2), "Established")), &routes)
                    .with(Part::BgpBlackholes, &format!(r#"{{"routes":{{{routes}}}}}"#));
            let origin = router(
                "r2",
                "10.0.0.2/24",
                &[peer("10.0.0.1", (2, 1), "Established")],
                &format!(r#""{prefix}":{OWN}"#),
            );
            [read("r1", &hears), origin]
        };
        let none = Context::default();
        check(&said("10.9.0.0/24"), &none, &["bgp_blackhole_community bgp/r2/10.9.0.0/24"]);
        check(&said("10.9.0.6/32"), &none, &[]);
    }

    #[test]
    fn a_daemon_is_down_only_where_it_is_to_run() {
        let with = |text: &str| [read("r1", &gathered("10.0.0.1/24", None).with(Part::Routing, text))];
        let none = Context::default();
        check(&with("enabled bgpd\nrunning "), &none, &["routing_daemon_down service/r1/frr"]);
        check(&with("running zebra"), &none, &[]);
    }
}
