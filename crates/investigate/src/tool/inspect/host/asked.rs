//! What people complain about, in terms of the machines that were read.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::complaint::{
    self, Basis, Complaint, ComplaintFlow, End, Inventory, Kind, Machine, Protocol, Topic, UnknownEnd,
};
use crate::symptom_text::{self, Mention, Symptom};
use ghost_inspect::host::{self, Flow, Host};

/// So many machines try a destination of which nobody says who calls it.
const MAX_CALLERS: usize = 4;
/// So many destinations are tried from one machine.
const MAX_DESTINATIONS: usize = 6;
/// So many names are asked for.
const MAX_NAMES: usize = 4;
/// Stands for anybody on the Internet, and is never called.
const INTERNET: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(8, 8, 8, 8));

/// What is asked.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) complaints: Vec<HostComplaint>,
}

/// A complaint about machines.
#[derive(Debug)]
pub(super) struct HostComplaint {
    pub(super) kind: Kind,
    pub(super) symptoms: BTreeSet<Symptom>,
    pub(super) names_port: bool,
    pub(super) is_question: bool,
    /// The machines that it is about.
    pub(super) machines: Vec<String>,
    pub(super) flows: Vec<HostFlow>,
}

/// Who calls whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostFlow {
    /// The machine that calls; of a call from elsewhere the one that is called.
    pub(super) from: String,
    pub(super) to: Target,
    pub(super) protocol: host::Protocol,
    pub(super) port: Option<u16>,
    /// Whoever calls is none of the machines: only what the called one itself decides can be seen.
    pub(super) is_inbound: bool,
}

/// Who is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Address(IpAddr),
    /// A name that none of the machines has.
    Name(String),
    Internet,
}

/// Whether the machines have tried what people name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Not yet: whatever may be meant is tried.
    Ahead,
    /// What they found by a name decides what is meant.
    Made,
}

impl Asked {
    /// Reads the words of people.
    pub(super) fn read(text: &str, hosts: &[Host], attempt: Attempt) -> Self {
        let message = complaint::read(text);
        let all: Vec<String> = hosts.iter().map(|host| host.name.clone()).collect();
        let found = complaint::resolve(&message, &inventory(hosts));
        let mut complaints: Vec<HostComplaint> = found
            .iter()
            .filter(|one| one.kind != Kind::Leftovers)
            .map(|one| of(one, hosts, attempt))
            .collect();
        if complaints.is_empty() {
            // Whatever is wrong, it is with these machines.
            complaints.push(HostComplaint {
                kind: Kind::Trouble,
                symptoms: symptom_text::read(text).symptoms,
                names_port: false,
                is_question: false,
                machines: all,
                flows: Vec::new(),
            });
        }
        if message.topic == Topic::Author {
            // Who asks what changed is answered by what was kept, and complains of nothing.
            complaints.iter_mut().for_each(|complaint| complaint.kind = Kind::Drift);
        }
        Self { complaints }
    }

    /// Returns what each machine tries to reach: what people named, and nothing else.
    pub(super) fn destinations(&self) -> BTreeMap<String, Vec<(String, Option<u16>)>> {
        let mut found: BTreeMap<String, Vec<(String, Option<u16>)>> = BTreeMap::new();
        for flow in self.complaints.iter().flat_map(|complaint| &complaint.flows) {
            let Some(name) = flow.tried() else { continue };
            let port = flow.port.filter(|_| flow.protocol == host::Protocol::Tcp);
            let own = found.entry(flow.from.clone()).or_default();
            if own.len() < MAX_DESTINATIONS && !own.contains(&(name.clone(), port)) {
                own.push((name, port));
            }
        }
        found
    }
}

impl HostFlow {
    /// Tells whether the caller has to find a name first.
    pub(super) fn is_by_name(&self) -> bool {
        matches!(self.to, Target::Name(_) | Target::Internet)
    }

    /// Returns the destination as the script takes it; nothing where it is not called.
    pub(super) fn tried(&self) -> Option<String> {
        match &self.to {
            Target::Address(_) | Target::Name(_) if self.is_inbound => None,
            Target::Address(address) => Some(address.to_string()),
            Target::Name(name) => Some(name.clone()),
            Target::Internet => None,
        }
    }

    /// Returns what became of a try of its destination, on its port or another one.
    pub(super) fn probe<'a>(&self, hosts: &'a [Host]) -> Option<&'a host::Probe> {
        let (name, host) = (self.tried()?, hosts.iter().find(|host| host.name == self.from)?);
        let own = || host.probes.iter().filter(|probe| probe.host == name);
        own().find(|probe| probe.port == self.port).or_else(|| own().next())
    }

    /// Says whether it was reached; nothing where exactly this flow was not tried.
    pub(super) fn reached(&self, hosts: &[Host]) -> Option<bool> {
        let is_its = |probe: &&host::Probe| self.protocol != host::Protocol::Tcp || probe.port == self.port;
        host::is_reached_by(self.probe(hosts).filter(is_its)?, self.protocol)
    }

    /// Returns the flow with its address, where it is known.
    pub(super) fn judged(&self, hosts: &[Host]) -> Option<Flow> {
        let to = match &self.to {
            Target::Address(address) => *address,
            Target::Internet => INTERNET,
            Target::Name(_) => self.probe(hosts)?.address?,
        };
        let from = self.from.clone();
        Some(Flow { from, source: None, to, protocol: self.protocol, port: self.port, is_marked: false })
    }
}

/// Returns the names that name servers are asked for: those of hosts with a domain.
pub(super) fn names(text: &str) -> Vec<String> {
    let domain = |mention: Mention| match mention {
        Mention::Word(word) => {
            let word = word.trim_end_matches('.').to_ascii_lowercase();
            let labels: Vec<&str> = word.split('.').collect();
            let plain = |label: &&str| {
                !label.is_empty()
                    && !label.starts_with('-')
                    && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            };
            let last = labels.last().is_some_and(|last| {
                last.len() > 1 && !FILES.contains(last) && last.bytes().all(|byte| byte.is_ascii_alphabetic())
            });
            (labels.len() > 1 && last && labels.iter().all(plain) && word.len() <= 150).then_some(word)
        }
        Mention::Address(_) => None,
    };
    symptom_text::read(text).mentions.into_iter().filter_map(domain).take(MAX_NAMES).collect()
}

/// Ends of file names, which are no domains.
const FILES: [&str; 8] = ["conf", "service", "log", "json", "yaml", "toml", "txt", "sh"];

/// The machines as `complaint` asks about them.
fn inventory(hosts: &[Host]) -> Inventory {
    let machine = |one: &Host| Machine {
        name: one.name.clone(),
        addresses: one.global().map(host::Address::ip).collect(),
        listeners: one.listeners.read().map(|all| all.iter().filter_map(listener).collect()),
        ..Machine::default()
    };
    Inventory { machines: hosts.iter().map(machine).collect(), ..Inventory::default() }
}

fn listener(own: &host::Listener) -> Option<complaint::Listener> {
    let protocol = match own.protocol {
        "tcp" => Protocol::Tcp,
        "udp" => Protocol::Udp,
        _ => return None,
    };
    (!own.is_local()).then_some(complaint::Listener {
        protocol,
        address: own.address,
        port: own.port,
        program: None,
    })
}

fn of(complaint: &Complaint, hosts: &[Host], attempt: Attempt) -> HostComplaint {
    let is_known = |name: &&String| hosts.iter().any(|host| host.name == **name);
    let named: Vec<String> = complaint.machines.iter().filter(is_known).cloned().collect();
    let machines =
        if named.is_empty() { hosts.iter().map(|host| host.name.clone()).collect() } else { named };
    let about_names = complaint.symptoms.contains(&Symptom::Names);
    let mut flows: Vec<HostFlow> = Vec::new();
    for flow in complaint.flows.iter().filter(|_| !about_names) {
        let known = known_ends(flow, &machines).into_iter();
        for one in known.flat_map(|one| by_name(one, flow, &complaint.text, hosts, attempt)) {
            if !flows.contains(&one) {
                flows.push(one);
            }
        }
    }
    if flows.is_empty() && !about_names && complaint.kind == Kind::Trouble {
        flows = unnamed_ends(complaint, &machines, hosts);
    }
    HostComplaint {
        kind: complaint.kind,
        symptoms: complaint.symptoms.clone(),
        names_port: !complaint.ports.is_empty(),
        is_question: complaint.is_question,
        machines,
        flows,
    }
}

fn protocol(protocol: Protocol) -> host::Protocol {
    match protocol {
        Protocol::Tcp => host::Protocol::Tcp,
        Protocol::Udp => host::Protocol::Udp,
        Protocol::Icmp => host::Protocol::Icmp,
    }
}

/// A flow without a port is tried by an echo.
fn spoken(own: Protocol, port: Option<u16>) -> host::Protocol {
    if port.is_none() { host::Protocol::Icmp } else { protocol(own) }
}

/// Returns a flow between ends of which at least one is a machine here.
fn known_ends(flow: &ComplaintFlow, machines: &[String]) -> Vec<HostFlow> {
    let protocol = spoken(flow.protocol, flow.port);
    let made = |from: &str, to: Target, is_inbound: bool| HostFlow {
        from: from.to_owned(),
        to,
        protocol,
        port: flow.port,
        is_inbound,
    };
    let to = match &flow.destination {
        End::Machine { address, .. } | End::Address(address) => Target::Address(*address),
        End::Internet => Target::Internet,
    };
    match (flow.source.machine(), flow.destination.machine()) {
        (Some(from), _) => vec![made(from, to, false)],
        (None, Some(called)) => vec![made(called, to, true)],
        (None, None) => machines.iter().take(MAX_CALLERS).map(|from| made(from, to.clone(), false)).collect(),
    }
}

/// Calls by the name that people wrote where a machine was only guessed from it, such as the one that serves the web from `web.example`: what
/// the caller finds by the name decides. Until it was asked both are tried.
fn by_name(
    own: HostFlow,
    flow: &ComplaintFlow,
    text: &str,
    hosts: &[Host],
    attempt: Attempt,
) -> Vec<HostFlow> {
    let is_guessed = match &flow.destination {
        End::Machine { basis, .. } => matches!(basis, Basis::Role | Basis::Inferred),
        End::Internet => true,
        End::Address(_) => false,
    };
    let is_machine = |name: &String| hosts.iter().any(|host| host.name.eq_ignore_ascii_case(name));
    let written = names(text);
    let ([name], true, false) = (written.as_slice(), is_guessed, own.is_inbound) else { return vec![own] };
    if is_machine(name) {
        return vec![own];
    }
    let named = HostFlow { to: Target::Name(name.clone()), ..own.clone() };
    if attempt == Attempt::Ahead {
        return vec![named, own];
    }
    let leads_on = named.probe(hosts).is_some_and(|probe| probe.address.is_some());
    vec![if leads_on { named } else { own }]
}

/// Returns the flows from the machines to what nobody here has, or to the Internet.
fn unnamed_ends(complaint: &Complaint, machines: &[String], hosts: &[Host]) -> Vec<HostFlow> {
    let mut targets: Vec<Target> = complaint
        .unknown
        .iter()
        .map(|end| match end {
            UnknownEnd::Name { name, .. } => Target::Name(name.clone()),
            UnknownEnd::Address(address) => Target::Address(*address),
        })
        .filter(|target| match target {
            Target::Name(name) => {
                name.len() <= 150
                    && !name.starts_with(['-', '.'])
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
            }
            Target::Address(_) | Target::Internet => true,
        })
        .collect();
    // An address of the machine itself is an end, too, though it is nobody's in a network.
    let addresses =
        symptom_text::read(&complaint.text).mentions.into_iter().filter_map(|mention| match mention {
            Mention::Address(address) => Some(Target::Address(address)),
            Mention::Word(_) => None,
        });
    for target in addresses {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    if targets.is_empty() && complaint.symptoms.contains(&Symptom::InternetLost) {
        targets.push(Target::Internet);
    }
    let mut flows = Vec::new();
    for to in targets {
        // Whoever has the address is called, unless nobody else is named.
        let has = |name: &&String| match &to {
            Target::Address(address) => {
                hosts.iter().any(|host| host.name == **name && host.owns(*address).is_yes())
            }
            Target::Name(_) | Target::Internet => false,
        };
        let others: Vec<&String> = machines.iter().filter(|name| !has(name)).collect();
        let callers = if others.is_empty() { machines.iter().collect() } else { others };
        for from in callers.into_iter().take(MAX_CALLERS) {
            let ports: Vec<(Protocol, Option<u16>)> =
                complaint.ports.iter().map(|service| (service.protocol, service.port)).collect();
            let ports = if ports.is_empty() { vec![(Protocol::Icmp, None)] } else { ports };
            flows.extend(ports.into_iter().map(|(own, port)| HostFlow {
                from: from.clone(),
                to: to.clone(),
                protocol: spoken(own, port),
                port,
                is_inbound: false,
            }));
        }
    }
    flows
}
