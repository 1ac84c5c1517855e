//! Which flows are compared: those that were named, those that the change is about, and who calls what is served.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use super::edit::SecurityRule;
use crate::net::parse_prefix;
use crate::path::{Estate, Flow, Protocol};

/// Stands for anybody on the internet: an address that is kept for documents.
pub(super) const INTERNET: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 10));

/// So many flows are compared.
const MAX_FLOWS: usize = 2_000;
/// So many flows that are left out are counted; then there are more than that.
const MAX_COUNTED: usize = 100_000;
/// So many ports are tried where nobody said which.
const MAX_PORTS: usize = 24;
/// So many machines stand for all those that a rule is about.
const MAX_STAND_INS: usize = 12;
/// Ports that are tried where neither a listener nor a rule names one.
const COMMON: [u16; 3] = [22, 443, 80];

/// What a forecast compares beside what the change is about.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Flows that somebody named.
    pub named: Vec<Flow>,
    /// So many flows are compared; 2,000 unless said.
    pub most: Option<usize>,
}

/// The flows to compare.
#[derive(Debug, Default)]
pub(super) struct Flows {
    pub(super) all: Vec<Flow>,
    known: BTreeSet<Flow>,
    most: usize,
    /// How many were left out.
    pub(super) left_out: usize,
}

impl Flows {
    /// Draws the flows from the estate as it is and as it will be, from the rules that a change is about, and from where its routes lead.
    pub(super) fn draw(estates: [&Estate; 2], about: &About, scope: &Scope) -> Self {
        let mut flows = Self { most: scope.most.unwrap_or(MAX_FLOWS), ..Self::default() };
        scope.named.iter().for_each(|flow| flows.add(flow.clone()));
        let ends = Ends::of(estates);
        let ports = about.ports();
        about.rules.iter().for_each(|rule| flows.of_rule(rule, &ends));
        about.prefixes.iter().for_each(|prefix| flows.of_prefix(prefix, &ends, &ports));
        flows.of_services(estates, &ends, &ports);
        flows
    }

    fn add(&mut self, flow: Flow) {
        if flow.src == flow.dst || self.known.contains(&flow) {
            return;
        }
        if self.all.len() >= self.most {
            self.left_out += 1;
            return;
        }
        self.known.insert(flow.clone());
        self.all.push(flow);
    }

    fn try_add(&mut self, src: IpAddr, dst: IpAddr, protocol: Protocol, port: Option<u16>) {
        if let Ok(flow) = Flow::new(src, dst, protocol, port) {
            self.add(flow);
        }
    }

    /// One packet for each end and port that a rule is about.
    fn of_rule(&mut self, rule: &SecurityRule, ends: &Ends) {
        let sources: Vec<IpAddr> = rule.sources.iter().flat_map(|place| ends.of_place(place)).collect();
        let destinations: Vec<IpAddr> =
            rule.destinations.iter().flat_map(|place| ends.of_place(place)).collect();
        let ports: Vec<u16> = rule.destination_ports.iter().flat_map(|range| first_ports(range)).collect();
        let protocols: &[Protocol] = match rule.protocol.to_ascii_lowercase().as_str() {
            "tcp" => &[Protocol::Tcp],
            "udp" => &[Protocol::Udp],
            "icmp" => &[Protocol::Icmp],
            _ => &[Protocol::Tcp, Protocol::Udp],
        };
        for src in &sources {
            for dst in &destinations {
                for protocol in protocols {
                    ports.iter().for_each(|port| {
                        self.try_add(*src, *dst, *protocol, Some(*port));
                        // Who is called from outside is called by the public address.
                        if let Some(public) = ends.public_of(*dst).filter(|_| *src == INTERNET) {
                            self.try_add(*src, public, *protocol, Some(*port));
                        }
                    });
                }
            }
        }
    }

    /// From every machine to what a route leads to.
    fn of_prefix(&mut self, prefix: &str, ends: &Ends, ports: &[u16]) {
        for dst in ends.of_place(prefix) {
            for (_, src) in &ends.machines {
                ports.iter().take(3).for_each(|port| self.try_add(*src, dst, Protocol::Tcp, Some(*port)));
            }
        }
    }

    /// From every machine and from outside to what load balancers take.
    fn of_balancers(&mut self, estates: [&Estate; 2], ends: &Ends) {
        let all = estates.into_iter().flat_map(Estate::balancers);
        let taken: BTreeSet<(IpAddr, Protocol, u16)> = all
            .flat_map(|(_, addresses, ports)| {
                let one = move |address| {
                    ports.clone().into_iter().map(move |(protocol, port)| (address, protocol, port))
                };
                addresses.into_iter().flat_map(one)
            })
            .collect();
        for (address, protocol, port) in taken {
            if !is_private(address) {
                self.try_add(INTERNET, address, protocol, Some(port));
            }
            for (_, src) in ends.machines.iter().take(MAX_STAND_INS) {
                self.try_add(*src, address, protocol, Some(port));
            }
        }
    }

    /// Who calls what is served, from every machine and from outside.
    fn of_services(&mut self, estates: [&Estate; 2], ends: &Ends, ports: &[u16]) {
        let mut served: Vec<(IpAddr, Protocol, u16)> = Vec::new();
        for (machine, address) in &ends.machines {
            let listeners = estates.iter().find_map(|estate| estate.listeners(machine));
            match listeners {
                Some(listeners) => {
                    let open =
                        listeners.iter().filter(|one| !one.address.is_some_and(|own| own.is_loopback()));
                    served.extend(open.map(|one| (*address, one.protocol, one.port)));
                }
                None => served.extend(COMMON.iter().map(|port| (*address, Protocol::Tcp, *port))),
            }
        }
        served.sort_unstable();
        served.dedup();
        self.of_balancers(estates, ends);
        for (address, protocol, port) in &served {
            if let Some(public) = ends.public_of(*address) {
                self.try_add(INTERNET, public, *protocol, Some(*port));
            }
        }
        for (_, public) in &ends.publics {
            ports.iter().for_each(|port| self.try_add(INTERNET, *public, Protocol::Tcp, Some(*port)));
        }
        for (address, protocol, port) in served {
            if self.left_out > MAX_COUNTED {
                return;
            }
            for (_, src) in &ends.machines {
                self.try_add(*src, address, protocol, Some(port));
            }
        }
        for (_, src) in &ends.machines {
            self.try_add(*src, INTERNET, Protocol::Tcp, Some(443));
            for (_, dst) in &ends.machines {
                if self.left_out > MAX_COUNTED {
                    return;
                }
                self.try_add(*src, *dst, Protocol::Icmp, None);
                ports.iter().for_each(|port| self.try_add(*src, *dst, Protocol::Tcp, Some(*port)));
            }
        }
    }
}

/// Who can be an end of a flow.
pub(super) struct Ends {
    /// Machines with an address.
    pub(super) machines: Vec<(String, IpAddr)>,
    /// Private and public address of the same interface.
    publics: Vec<(IpAddr, IpAddr)>,
}

impl Ends {
    pub(super) fn of(estates: [&Estate; 2]) -> Self {
        let mut machines = BTreeSet::new();
        let mut publics = BTreeSet::new();
        for estate in estates {
            for name in estate.machines() {
                machines.extend(estate.addresses_of(name).first().map(|address| (name.to_owned(), *address)));
            }
            publics.extend(estate.publics());
        }
        Self { machines: machines.into_iter().collect(), publics: publics.into_iter().collect() }
    }

    fn public_of(&self, address: IpAddr) -> Option<IpAddr> {
        self.publics.iter().find(|(own, _)| *own == address).map(|(_, public)| *public)
    }

    /// Returns addresses that stand for a prefix or a service tag.
    fn of_place(&self, place: &str) -> Vec<IpAddr> {
        let all = || self.machines.iter().map(|(_, address)| *address);
        match place.to_ascii_lowercase().as_str() {
            "*" | "any" | "0.0.0.0/0" => {
                return std::iter::once(INTERNET).chain(all().take(MAX_STAND_INS)).collect();
            }
            "internet" => return vec![INTERNET],
            "virtualnetwork" => return all().take(MAX_STAND_INS).collect(),
            _ => {}
        }
        let Some(prefix) = parse_prefix(place) else { return Vec::new() };
        let inside: Vec<IpAddr> =
            all().filter(|address| prefix.contains(address)).take(MAX_STAND_INS).collect();
        if inside.is_empty() { first_host(prefix).into_iter().collect() } else { inside }
    }
}

/// Tells whether nobody outside can call an address.
const fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_private(),
        IpAddr::V6(six) => six.is_unique_local(),
    }
}

/// Returns the first address of a prefix that a machine can have.
fn first_host(prefix: IpNet) -> Option<IpAddr> {
    prefix.hosts().next()
}

/// Returns the first port of a range, and one that people use where it is every port.
fn first_ports(range: &str) -> Vec<u16> {
    if range == "*" {
        return COMMON.to_vec();
    }
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (Ok(first), Ok(last)) = (first.trim().parse::<u16>(), last.trim().parse::<u16>()) else {
        return Vec::new();
    };
    let mut found: Vec<u16> = COMMON.into_iter().filter(|port| (first..=last).contains(port)).collect();
    found.push(first.max(1));
    found.sort_unstable();
    found.dedup();
    found
}

/// What a change is about.
#[derive(Debug, Default)]
pub(super) struct About {
    /// Rules that it adds, changes or deletes.
    pub(super) rules: Vec<SecurityRule>,
    /// Where the routes lead that it adds, changes or deletes.
    pub(super) prefixes: Vec<String>,
}

impl About {
    /// Returns the ports that it names, and those that are common.
    fn ports(&self) -> Vec<u16> {
        let ranges = self.rules.iter().flat_map(|rule| &rule.destination_ports).filter(|range| *range != "*");
        let named: BTreeSet<u16> = ranges.flat_map(|range| first_ports(range)).collect();
        let mut ports: Vec<u16> = named.into_iter().take(MAX_PORTS).collect();
        for port in COMMON {
            if !ports.contains(&port) {
                ports.push(port);
            }
        }
        ports
    }
}
