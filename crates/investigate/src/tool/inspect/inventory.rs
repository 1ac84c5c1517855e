//! What the words of people can mean: the estate as `complaint` asks about it.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use crate::complaint::{Allow, Inventory, Listener, Machine, Protocol, Selector};
use ghost_cloud::probe::topology::{self, Nic, Rule, Topology};
use ghost_inspect::net::parse_prefix;
use ghost_inspect::path::{self, Cloud, Estate, Reading};

/// Puts together machines with who listens there, and who may call whom.
pub(super) fn inventory(topology: &Topology, estate: &Estate) -> Inventory {
    Inventory {
        machines: topology
            .machines
            .iter()
            .map(|one| machine(one, topology, estate))
            .chain(estate.balancers().map(balancer))
            .chain(estate.bastions().map(|(name, address)| balancer((name, vec![address], Vec::new()))))
            .collect(),
        names: Vec::new(),
        allows: allows(topology),
        elsewhere: Vec::new(),
        others: Vec::new(),
    }
}

/// Returns the names of everything that the lists of a cloud hold: networks, groups, rules, gateways, zones, accounts.
pub(super) fn names(cloud: &Cloud) -> Vec<String> {
    let lists = [
        &cloud.machines,
        &cloud.interfaces,
        &cloud.networks,
        &cloud.groups,
        &cloud.route_tables,
        &cloud.load_balancers,
        &cloud.application_gateways,
        &cloud.bastions,
        &cloud.clusters,
        &cloud.public_addresses,
        &cloud.nat_gateways,
        &cloud.private_endpoints,
        &cloud.zones,
        &cloud.firewalls,
        &cloud.firewall_policies,
        &cloud.virtual_gateways,
        &cloud.connections,
        &cloud.local_gateways,
        &cloud.circuits,
        &cloud.accounts,
    ];
    let mut found: Vec<String> = Vec::new();
    for list in lists {
        let Some(Reading::Text(text)) = list else { continue };
        let value = |(at, key): (usize, &str)| {
            let rest = text.get(at + key.len()..)?.trim_start().strip_prefix(':')?.trim_start();
            rest.strip_prefix('"')?.split('"').next().map(str::to_owned)
        };
        found.extend(text.match_indices("\"name\"").filter_map(value));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn machine(machine: &topology::Machine, topology: &Topology, estate: &Estate) -> Machine {
    let nics: Vec<&Nic> = topology.of(&machine.name).collect();
    let subnet = nics.iter().flat_map(|nic| &nic.addresses).find_map(|address| address.subnet.as_deref());
    let place = subnet.and_then(|path| path.split_once('/'));
    let mut groups: Vec<String> = nics.iter().flat_map(|nic| nic.application_groups.clone()).collect();
    groups.sort_unstable();
    groups.dedup();
    Machine {
        name: machine.name.clone(),
        addresses: nics.iter().flat_map(|nic| &nic.addresses).filter_map(|address| address.ip).collect(),
        public: Vec::new(),
        network: place.map(|(network, _)| network.to_owned()),
        subnet: place.map(|(_, subnet)| subnet.to_owned()),
        groups,
        forwards: nics.iter().any(|nic| nic.forwards),
        peers: estate.connections(&machine.name).map(|all| all.iter().map(peer).collect()),
        listeners: estate.listeners(&machine.name).map(|all| all.into_iter().map(listener).collect()),
    }
}

/// A load balancer, as somebody speaks of it: a machine with the ports that its rules take.
fn balancer((name, addresses, ports): (&str, Vec<IpAddr>, Vec<(path::Protocol, u16)>)) -> Machine {
    let listener = |(protocol, port): (path::Protocol, u16)| {
        listener(path::Listening { protocol, address: None, port, program: None })
    };
    Machine {
        name: name.to_owned(),
        addresses,
        public: Vec::new(),
        network: None,
        subnet: None,
        groups: Vec::new(),
        forwards: false,
        peers: None,
        listeners: Some(ports.into_iter().map(listener).collect()),
    }
}

fn peer(connection: &path::Connection) -> SocketAddr {
    SocketAddr::new(connection.peer, connection.port)
}

fn listener(listening: path::Listening) -> Listener {
    let protocol = match listening.protocol {
        path::Protocol::Tcp => Protocol::Tcp,
        path::Protocol::Udp => Protocol::Udp,
        path::Protocol::Icmp => Protocol::Icmp,
    };
    Listener { protocol, address: listening.address, port: listening.port, program: listening.program }
}

/// Returns what each security group lets in, once for each subnet and machine that it guards.
fn allows(topology: &Topology) -> Vec<Allow> {
    let mut found = Vec::new();
    for group in &topology.security_groups {
        let lets_in = |rule: &&Rule| {
            rule.access.eq_ignore_ascii_case("allow") && rule.direction.eq_ignore_ascii_case("inbound")
        };
        let rules: Vec<Allow> = group.rules.iter().filter(lets_in).map(allow).collect();
        let named =
            |own: &Option<String>| own.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(&group.name));
        for network in &topology.networks {
            for subnet in network.subnets.iter().filter(|subnet| named(&subnet.security_group)) {
                let place = Some((network.name.clone(), subnet.name.clone()));
                found.extend(rules.iter().cloned().map(|rule| Allow { subnet: place.clone(), ..rule }));
            }
        }
        for nic in topology.interfaces.iter().filter(|nic| named(&nic.security_group)) {
            found.extend(rules.iter().cloned().map(|rule| Allow { machine: nic.machine.clone(), ..rule }));
        }
    }
    found
}

fn allow(rule: &Rule) -> Allow {
    let protocol = match rule.protocol.to_ascii_lowercase().as_str() {
        "tcp" => Some(Protocol::Tcp),
        "udp" => Some(Protocol::Udp),
        "icmp" => Some(Protocol::Icmp),
        _ => None,
    };
    Allow {
        subnet: None,
        machine: None,
        protocol,
        sources: rule.sources.iter().map(|text| selector(text)).collect(),
        destinations: rule.destinations.iter().map(|text| selector(text)).collect(),
        ports: rule.ports.iter().filter_map(|text| ports(text)).collect(),
    }
}

/// The platform's own names for address ranges; whatever else is no prefix is an application group.
const TAGS: [&str; 5] = ["VirtualNetwork", "Internet", "AzureLoadBalancer", "AzureCloud", "Storage"];

fn selector(text: &str) -> Selector {
    if matches!(text, "*" | "Any" | "any") {
        Selector::Any
    } else if let Some(prefix) = parse_prefix(text) {
        Selector::Prefix(prefix)
    } else if TAGS.iter().any(|tag| text == *tag || text.starts_with(&format!("{tag}."))) {
        Selector::Tag(text.to_owned())
    } else {
        Selector::Group(text.to_owned())
    }
}

fn ports(text: &str) -> Option<RangeInclusive<u16>> {
    if text == "*" {
        return Some(0..=u16::MAX);
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
}
