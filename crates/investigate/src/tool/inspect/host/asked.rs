//! What people complain about, in terms of the machines that were read.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::complaint::{
    self, Basis, Complaint, ComplaintFlow, End, Inventory, Kind, Machine, Protocol, Topic, UnknownEnd,
};
use crate::judged::UnknownName;
use crate::symptom_text::{self, Mention, Symptom};
use crate::tool::inspect::path::unknown_ends;
use ghost_base::Limit;
use ghost_inspect::host::{self, Flow, Host};

/// How many machines try a destination if the words do not say who calls it.
const CALLERS: Limit = Limit::new("host.callers", 64);
/// How many destinations are tried from one machine: each may take seconds.
const DESTINATIONS: Limit = Limit::new("host.destinations", 24);
/// How many names the name servers of a machine are asked for.
const NAMES: Limit = Limit::new("host.names", 16);
/// Stands for anybody on the Internet, and is never called.
const INTERNET: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(8, 8, 8, 8));

/// What is asked.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) complaints: Vec<HostComplaint>,
    /// What the words speak of, and none of the machines is or has.
    pub(super) unknown: Vec<UnknownName>,
    /// What a limit cut off.
    pub(super) unjudged: Vec<String>,
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
    /// It is about other machines than these: nothing that is read here explains it.
    pub(super) is_elsewhere: bool,
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
    /// Reads the words of people. `session` names the machines of the session, those that could not be read among them.
    pub(super) fn read(text: &str, hosts: &[Host], session: &[&str], attempt: Attempt) -> Self {
        let message = complaint::read(text);
        let all: Vec<String> = hosts.iter().map(|host| host.name.clone()).collect();
        let inventory = inventory(hosts, session);
        let found = complaint::resolve(&message, &inventory);
        let mut unjudged: Vec<String> = Vec::new();
        if hosts.len() > CALLERS.most() {
            unjudged.push(format!("{} more machines that may call", hosts.len() - CALLERS.most()));
        }
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
                is_elsewhere: false,
            });
        }
        if message.topic == Topic::Author {
            // Who asks what changed is answered by what was kept, and complains of nothing.
            complaints.iter_mut().for_each(|complaint| complaint.kind = Kind::Drift);
        }
        let named = found.iter().flat_map(|one| one.unknown.iter().cloned()).collect();
        let mut unknown = unknown_ends(named, complaint::strangers(&message, &inventory));
        // What a machine finds by its name, and an address that it calls, were looked for.
        unknown.retain(|end| {
            !complaints.iter().flat_map(|one| &one.flows).any(|flow| flow.finds(&end.word, hosts))
        });
        let mut asked = Self { complaints, unknown, unjudged };
        let cut = all_names(text).len().saturating_sub(NAMES.most());
        asked.leave(cut, "names");
        asked
    }

    fn leave(&mut self, cut: usize, what: &str) {
        if cut > 0 {
            self.unjudged.push(format!("{cut} more {what}"));
        }
    }

    /// Returns what each machine tries to reach: what people named, and nothing else.
    pub(super) fn destinations(&self) -> BTreeMap<String, Vec<(String, Option<u16>)>> {
        let mut found: BTreeMap<String, Vec<(String, Option<u16>)>> = BTreeMap::new();
        for flow in self.complaints.iter().flat_map(|complaint| &complaint.flows) {
            let Some(name) = flow.tried() else { continue };
            let port = flow.port.filter(|_| flow.protocol == host::Protocol::Tcp);
            let own = found.entry(flow.from.clone()).or_default();
            if !own.contains(&(name.clone(), port)) {
                own.push((name, port));
            }
        }
        found
    }

    /// Shortens what machines try to reach, and records what is cut off.
    pub(super) fn shorten(&mut self, found: &mut BTreeMap<String, Vec<(String, Option<u16>)>>) {
        for (machine, own) in found {
            let cut = DESTINATIONS.cut(own);
            self.leave(cut, &format!("destinations of {machine}"));
        }
    }
}

impl HostFlow {
    /// Tells whether it leads to what a word names: an address that is called, or a name that the caller found an address for.
    fn finds(&self, word: &str, hosts: &[Host]) -> bool {
        match &self.to {
            Target::Address(address) => !self.is_inbound && address.to_string() == word,
            Target::Name(name) => name == word && self.judged(hosts).is_some(),
            Target::Internet => false,
        }
    }

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
    let mut found = all_names(text);
    found.truncate(NAMES.most());
    found
}

fn all_names(text: &str) -> Vec<String> {
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
    symptom_text::read(text).mentions.into_iter().filter_map(domain).collect()
}

/// Ends of file names, which are no domains.
const FILES: [&str; 8] = ["conf", "service", "log", "json", "yaml", "toml", "txt", "sh"];

/// The machines as `complaint` asks about them.
fn inventory(hosts: &[Host], session: &[&str]) -> Inventory {
    let machine = |one: &Host| Machine {
        name: one.name.clone(),
        addresses: one.global().map(host::Address::ip).collect(),
        listeners: one.listeners.read().map(|all| all.iter().filter_map(listener).collect()),
        ..Machine::default()
    };
    let devices = hosts.iter().flat_map(|host| host.addresses.read().into_iter().flatten());
    let devices = devices.map(|own| own.device.clone());
    let aliases = hosts.iter().flat_map(|host| host.hosts.iter().map(|(name, _)| name.clone()));
    let others = session.iter().map(|name| (*name).to_owned()).chain(devices).chain(aliases);
    Inventory {
        machines: hosts.iter().map(machine).collect(),
        others: others.collect(),
        ..Inventory::default()
    }
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
    // Whoever calls is named, and is none of these: what the called one decides is all that can be seen.
    if complaint.is_from_stranger {
        return of_stranger(complaint, named, hosts);
    }
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
        is_elsewhere: false,
    }
}

/// A complaint of somebody who is none of the machines: about those of them that it calls, or about none.
fn of_stranger(complaint: &Complaint, called: Vec<String>, hosts: &[Host]) -> HostComplaint {
    let ports: Vec<(Protocol, Option<u16>)> =
        complaint.ports.iter().map(|service| (service.protocol, service.port)).collect();
    let ports = if ports.is_empty() { vec![(Protocol::Icmp, None)] } else { ports };
    let own = called.iter().filter_map(|name| {
        let host = hosts.iter().find(|host| host.name == *name)?;
        Some((name, host.global().map(host::Address::ip).next()?))
    });
    let flow = |(name, address): (&String, IpAddr), (own, port): (Protocol, Option<u16>)| HostFlow {
        from: name.clone(),
        to: Target::Address(address),
        protocol: spoken(own, port),
        port,
        is_inbound: true,
    };
    let flows = own.flat_map(|called| ports.iter().map(move |port| flow(called, *port))).collect();
    HostComplaint {
        kind: complaint.kind,
        symptoms: complaint.symptoms.clone(),
        names_port: !complaint.ports.is_empty(),
        is_question: complaint.is_question,
        is_elsewhere: called.is_empty(),
        machines: called,
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
        (None, None) => {
            machines.iter().take(CALLERS.most()).map(|from| made(from, to.clone(), false)).collect()
        }
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
        for from in callers.into_iter().take(CALLERS.most()) {
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
