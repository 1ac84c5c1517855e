//! Which flows a complaint is about, as far as the estate is known: those to load balancers in front of who is named, and those of whoever calls.

use std::net::IpAddr;

use super::estate_reader::{EstateReader, INTERNET};
use crate::complaint::{self, Complaint, End};
use crate::symptom_text::Symptom;
use ghost_base::Limit;
use ghost_inspect::path::{self, Flow};

/// How many machines are taken for callers if the words name none.
const CALLERS: Limit = Limit::new("path.callers", 64);
/// How many ports of a machine are judged if the words name none.
const PORTS: Limit = Limit::new("path.ports", 64);
/// The port of whoever administers a machine.
const ADMINISTRATION: u16 = 22;
/// The platform's name server.
const NAME_SERVER: [u8; 4] = [168, 63, 129, 16];

impl EstateReader<'_> {
    /// Returns the flows of a complaint as they are judged.
    pub(super) fn flows_of(&self, complaint: &Complaint) -> Vec<Flow> {
        if complaint.kind != complaint::Kind::Trouble && complaint.kind != complaint::Kind::Drift {
            return Vec::new();
        }
        let is_review = [Symptom::RolledBack, Symptom::NothingChanged]
            .iter()
            .any(|symptom| complaint.symptoms.contains(symptom));
        let meant = self.through_bastion(complaint).or_else(|| self.of_cluster(complaint));
        if let Some(flows) = meant {
            return flows;
        }
        let mut flows: Vec<Flow> = Vec::new();
        let mut add = |flow: Option<Flow>| flows.extend(flow.filter(|flow| !flows.contains(flow)));
        for flow in &complaint.flows {
            let address = |end: &End| end.address().unwrap_or(IpAddr::from(INTERNET));
            let (from, to) = (address(&flow.source), address(&flow.destination));
            let in_front = flow.destination.machine().map(|name| self.estate().frontends_of(name, flow.port));
            for (frontend, protocol, port) in in_front.into_iter().flatten() {
                add(Flow::new(from, frontend, protocol, Some(port)).ok().filter(|_| from != frontend));
            }
            // Nobody comes from the internet to a load balancer at an address of the network.
            let inner = flow.destination.machine().filter(|_| flow.source == End::Internet);
            if let Some(name) = inner.filter(|name| self.estate().is_inner_balancer(name)) {
                self.inner_calls(name, to, flow.port).into_iter().for_each(|flow| add(Some(flow)));
                continue;
            }
            let protocol = match flow.protocol {
                complaint::Protocol::Tcp => path::Protocol::Tcp,
                complaint::Protocol::Udp => path::Protocol::Udp,
                complaint::Protocol::Icmp => path::Protocol::Icmp,
            };
            if flow.port.is_some() || protocol == path::Protocol::Icmp {
                let is_name =
                    |end: &End, at: IpAddr| matches!(end, End::Address(_)) && self.is_spoken(at, flow.port);
                if is_name(&flow.destination, to) || is_name(&flow.source, from) {
                    continue;
                }
                add(Flow::new(from, to, protocol, flow.port).ok());
                // Whoever asks what a change left behind asks about everything that is served there.
                if !is_review {
                    continue;
                }
            }
            // No port is named: what is served there.
            let ports =
                flow.destination.machine().map(|name| self.served(name, protocol)).unwrap_or_default();
            for port in &ports {
                add(Flow::new(from, to, protocol, Some(*port)).ok());
            }
            if ports.is_empty() && flow.port.is_none() {
                add(Flow::new(from, to, path::Protocol::Icmp, None).ok());
            }
        }
        if complaint.kind == complaint::Kind::Trouble {
            for flow in self.flows_by_name(complaint).into_iter().chain(self.gateway_flows(complaint)) {
                add(Some(flow));
            }
        }
        if complaint.kind == complaint::Kind::Trouble && complaint.symptoms.contains(&Symptom::Names) {
            for machine in &complaint.machines {
                let own = self.estate().addresses_of(machine).into_iter().next();
                let to = IpAddr::from(NAME_SERVER);
                add(own.and_then(|own| Flow::new(own, to, path::Protocol::Udp, Some(53)).ok()));
            }
        }
        flows
    }

    /// Tells whether a complaint is about an end that none of the machines is.
    pub(super) fn is_elsewhere(&self, complaint: &Complaint, text: &str) -> bool {
        let mut flows = complaint.flows.iter();
        let is_address =
            |word: &str| word.parse().is_ok_and(|own: IpAddr| self.estate().machine_at(own).is_none());
        let is_of_address = |char: char| char.is_ascii_hexdigit() || matches!(char, '.' | ':');
        let mut words = text.split(|char| !is_of_address(char)).map(|word| word.trim_matches(['.', ':']));
        !complaint.unknown.is_empty()
            || flows.any(|flow| matches!(flow.destination, End::Address(_)))
            || (complaint.flows.iter().all(|flow| flow.destination.machine().is_none())
                && words.any(is_address))
    }

    /// Returns flows to a load balancer where nobody says who calls: one that passes, where one does. Where none does, one that shows what
    /// stops them all: what keeps some callers out may be meant.
    pub(super) fn inner_calls(&self, balancer: &str, to: IpAddr, port: Option<u16>) -> Vec<Flow> {
        let estate = self.estate();
        let members: Vec<&str> =
            estate.members_of(balancer).into_iter().map(|(_, machine)| machine).collect();
        let mut callers: Vec<&str> = estate.machines().filter(|name| !members.contains(name)).collect();
        let cut = CALLERS.cut(&mut callers);
        self.leave(cut, "machines that may call");
        let callers: Vec<IpAddr> =
            callers.into_iter().filter_map(|name| estate.addresses_of(name).first().copied()).collect();
        let ports = match port {
            Some(port) => vec![port],
            None => self.served(balancer, path::Protocol::Tcp),
        };
        let mut flows = Vec::new();
        for port in ports {
            let own =
                callers.iter().filter_map(|from| Flow::new(*from, to, path::Protocol::Tcp, Some(port)).ok());
            let judged: Vec<path::Judgement> = own.map(|flow| estate.judge(&flow)).collect();
            let is_open = |one: &&path::Judgement| one.fate == path::Fate::Unknown;
            let passes = |one: &&path::Judgement| {
                matches!(one.fate, path::Fate::Passes | path::Fate::Degraded | path::Fate::Partly)
            };
            // What stops it at the load balancer is the same for everybody who calls.
            let is_in_front = |one: &&path::Judgement| {
                let is_front = |kind| matches!(kind, path::Kind::Balancer | path::Kind::ApplicationGateway);
                one.hops().any(|(_, hop)| is_front(hop.kind) && !hop.stops.is_empty())
            };
            let shared = |one: &&path::Judgement| {
                let all = |cause: &path::Cause| judged.iter().all(|other| other.findings().contains(cause));
                !judged.iter().any(|other| is_open(&other)) && one.findings().iter().any(all)
            };
            let found = judged.iter().find(passes).or_else(|| judged.iter().find(is_in_front));
            match found.or_else(|| judged.iter().find(shared)) {
                Some(one) => flows.push(one.flow.clone()),
                None => flows.extend(judged.iter().filter(is_open).map(|one| one.flow.clone())),
            }
        }
        flows
    }

    /// Returns the ports that a machine serves to others; that of whoever administers it is not among them.
    pub(super) fn served(&self, machine: &str, protocol: path::Protocol) -> Vec<u16> {
        let taken = self.estate().balancers().find(|(name, ..)| *name == machine);
        if let Some((_, _, ports)) = taken {
            let own = ports.into_iter().filter(|(own, _)| *own == protocol);
            let mut ports: Vec<u16> = own.map(|(_, port)| port).collect();
            self.leave(PORTS.cut(&mut ports), &format!("ports of {machine}"));
            return ports;
        }
        let all = self.estate().listeners(machine).unwrap_or_default().into_iter();
        let is_served = |one: &path::Listening| {
            one.protocol == protocol
                && one.port != ADMINISTRATION
                && !one.address.is_some_and(|own| own.is_loopback())
        };
        let mut ports: Vec<u16> = all.filter(is_served).map(|one| one.port).collect();
        ports.sort_unstable();
        ports.dedup();
        self.leave(PORTS.cut(&mut ports), &format!("ports of {machine}"));
        ports
    }
}
