//! Which of several DHCP servers of one segment should not be there: it gives away something else than the others.

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;

use super::context::Expected;
use super::dhcp::{Server, current, gateways, matters, may_lead_on, object};
use super::fault::Fault;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::lease::Lease;
use super::model::Host;
use super::network::Network;

/// What a server gives beside the address.
struct Offer<'a> {
    server: IpAddr,
    is_expected: bool,
    router: Option<IpAddr>,
    names: BTreeSet<IpAddr>,
    /// What shows that it serves.
    proofs: Vec<(&'a str, Part, String)>,
    /// Who took an address from it.
    users: Vec<(&'a Host, &'a Lease)>,
}

/// Finds servers that give away another gateway, or other name servers, than the one that is known.
pub(super) fn check(network: &Network<'_>, servers: &[Server<'_>]) -> Vec<Finding> {
    let nets: BTreeSet<IpNet> = servers.iter().map(|server| server.address.net.trunc()).collect();
    nets.into_iter().flat_map(|net| of_segment(network, servers, net)).collect()
}

fn of_segment(network: &Network<'_>, servers: &[Server<'_>], net: IpNet) -> Vec<Finding> {
    let offers = offers(network, servers, net);
    if offers.len() < 2 {
        return Vec::new();
    }
    let is_known = offers.iter().any(|one| one.is_expected);
    let right = gateways(network, net.addr(), net);
    let leads_on = |one: &&Offer<'_>| {
        one.router.is_some_and(|router| {
            right.contains(&router) || one.users.iter().any(|(host, _)| may_lead_on(network, host, router))
        })
    };
    let good: Vec<&Offer<'_>> =
        offers.iter().filter(|one| if is_known { one.is_expected } else { leads_on(one) }).collect();
    let agrees = |one: &Offer<'_>| {
        // Which name servers are meant is known only where it is known who served before.
        let same = |other: &&Offer<'_>| other.router == one.router && (!is_known || other.names == one.names);
        good.iter().any(same)
    };
    let odd = offers.iter().filter(|one| !good.iter().any(|other| other.server == one.server));
    // Servers that share the work give away the same.
    let odd = odd.filter(|one| !good.is_empty() && !agrees(one));
    odd.map(|one| finding(one, &good, is_known)).collect()
}

fn offers<'a>(network: &Network<'a>, servers: &[Server<'a>], net: IpNet) -> Vec<Offer<'a>> {
    let mut found: Vec<Offer<'a>> = Vec::new();
    for server in servers.iter().filter(|server| server.address.net.trunc() == net && server.listens.is_yes())
    {
        let ip = server.address.ip();
        let Some(programs) = server.programs() else { continue };
        let near = |one: &&&super::lease::DhcpServer| {
            one.ranges.iter().any(|range| net.contains(&IpAddr::V4(range.first)))
        };
        let Some(one) = programs.iter().find(near) else { continue };
        // What is not set is the server itself.
        let own = |number: u8| one.option(number).map_or_else(|| vec![ip], <[IpAddr]>::to_vec);
        let lines = one.ranges.iter().map(|range| range.line.clone()).collect::<Vec<_>>().join("; ");
        let routers: Vec<String> = own(3).iter().map(ToString::to_string).collect();
        let shows = format!("{lines}; gateway {}", routers.join(", "));
        found.push(Offer {
            server: ip,
            is_expected: server.is_expected,
            router: own(3).first().copied(),
            names: own(6).into_iter().collect(),
            proofs: vec![server.proof(), (&server.host.name, Part::DhcpServer, shows)],
            users: Vec::new(),
        });
    }
    for host in matters(network) {
        for lease in current(host).filter(|lease| lease.ip.is_some_and(|ip| net.contains(&ip))) {
            let Some(ip) = lease.server else { continue };
            if let Some(known) = found.iter_mut().find(|one| one.server == ip) {
                known.users.push((host, lease));
                continue;
            }
            let is_expected = network
                .context
                .expected
                .iter()
                .any(|one| matches!(one, Expected::DhcpServer { ip: known, .. } if *known == ip));
            found.push(Offer {
                server: ip,
                is_expected,
                router: lease.routers.first().copied(),
                names: lease.servers.iter().copied().collect(),
                proofs: Vec::new(),
                users: vec![(host, lease)],
            });
        }
    }
    found
}

fn finding(odd: &Offer<'_>, good: &[&Offer<'_>], is_known: bool) -> Finding {
    let weight = if odd.users.is_empty() { Weight::Degraded } else { Weight::Broken };
    let certainty = if is_known { Certainty::Confirmed } else { Certainty::Likely };
    let leases = odd.users.iter().map(|(host, lease)| (host.name.as_str(), Part::DhcpClient, lease.line()));
    let others = good.iter().flat_map(|one| one.proofs.iter().cloned());
    let mut proofs = leases.chain(odd.proofs.iter().cloned()).chain(others);
    let nobody = || ("", Part::DhcpServer, String::new());
    let (host, part, shows) = proofs.next().unwrap_or_else(nobody);
    let first =
        Finding::new((weight, certainty), Fault::DhcpRogue, object(odd.server, None), (host, part, shows));
    proofs.fold(first, |one, (host, part, shows)| one.and(host, part, shows))
}
