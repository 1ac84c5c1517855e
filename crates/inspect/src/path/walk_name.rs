//! How a name becomes an address on the path of a flow: which server a machine asks, what that one knows, and what is wrong there.
//! And the private endpoint at which such a flow ends.

use std::net::IpAddr;

use super::document::{Document, GuestDocument, Missing};
use super::estate::{Estate, Nic, is_private};
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Protocol, Wire};
use super::hop::{Effect, Hop, Kind};
use super::judge::Fate;
use super::naming::{Answer, Endpoint, Names, ServerAnswer, Service};
use super::walk::Walk;
use crate::net::Platform;
use crate::nsg::Direction;

/// Stands for the public address of a service.
const PUBLIC: [u8; 4] = [8, 8, 8, 8];
/// Where name servers listen.
const NAMES: u16 = 53;

impl Estate {
    /// Returns the flow from an address to a name: to the private endpoint that the name should lead to, to the address that a private
    /// zone has for it, or to a public address where the name is one of the platform's services. `None` where nothing is known of it.
    #[must_use]
    pub fn flow_to_name(
        &self,
        src: IpAddr,
        name: &str,
        protocol: Protocol,
        port: Option<u16>,
    ) -> Option<Flow> {
        let names = self.names.read()?;
        let service = Service::of(name);
        let port = port.or_else(|| super::naming::service_port(name)).filter(|_| protocol != Protocol::Icmp);
        let nic = self.owners(src).first().and_then(|at| self.nic(*at));
        let wanted = self.wanted(names, name, nic);
        let to = |endpoint: &Endpoint| endpoint.addresses_for(name).first().copied();
        let recorded = names.recorded(name).map(|(address, _)| address).filter(|_| service.is_none());
        let public = service.map(|_| IpAddr::from(PUBLIC));
        let to = wanted.and_then(to).or(recorded).or(public)?;
        Flow::new(src, to, protocol, port).ok().map(|flow| flow.by_name(name))
    }

    /// Tells whether something is known about private endpoints and zones of names.
    #[must_use]
    pub const fn knows_names(&self) -> bool {
        self.names.read().is_some()
    }

    /// Returns the endpoint that a name is meant to lead to from an interface: one in a network that it reaches, unless the name leads to
    /// a public address there that takes it.
    fn wanted<'a>(&'a self, names: &'a Names, name: &str, nic: Option<&Nic>) -> Option<&'a Endpoint> {
        let all = names.endpoints_of(name);
        let first = all.first().copied()?;
        let Some(network) = nic.and_then(|nic| nic.network.as_deref()) else { return Some(first) };
        let is_seen = |endpoint: &&&Endpoint| self.sees(Some(network), endpoint.network.as_deref());
        let own = |endpoint: &&&Endpoint| {
            endpoint.network.as_deref().is_some_and(|there| there.eq_ignore_ascii_case(network))
        };
        let near = all.iter().find(|one| own(one) && one.is_approved());
        let endpoint = near.or_else(|| all.iter().find(is_seen)).copied()?;
        let subnet = nic.and_then(|nic| nic.subnet.as_deref()).map(|subnet| (network, subnet));
        let is_public = matches!(names.answer(name, network), Answer::Public | Answer::Redirected(..));
        let is_open = names.is_open(name, subnet) == Some(true);
        (!(is_public && is_open)).then_some(endpoint)
    }
}

/// A name that a machine asks for.
struct Asking<'a> {
    names: &'a Names,
    name: &'a str,
    nic: &'a Nic,
    machine: &'a str,
    /// Where it should lead.
    wanted: Vec<IpAddr>,
    endpoint: Option<&'a Endpoint>,
    /// What the machine was answered; nothing where that was not read.
    answered: Option<Vec<&'a ServerAnswer>>,
}

/// What is wrong with a name, or why nothing is.
enum Found {
    Right(String),
    Wrong(Cause, String),
    Open(Document, String),
}

impl<'a> Walk<'a> {
    /// Follows how the name of the flow becomes an address at the caller.
    pub(super) fn resolve(&mut self, from: usize) {
        let estate = self.asked.estate;
        let Some(name) = self.asked.flow.name.as_deref() else { return };
        let Some((nic, (_, machine))) = estate.nic(from).zip(estate.machine_of(from)) else { return };
        let mut hop = Hop::new(Kind::Name, &machine.name);
        let Some(names) = estate.names.read() else {
            let why = format!("to which address {name} leads: {}", estate.names.why_not());
            self.push(hop.lacking(Document::Names, why));
            return;
        };
        hop = hop.on(Document::Names);
        let all = machine.answers.read();
        if all.is_some() {
            hop = hop.on(answers(&machine.name));
        }
        let endpoint = estate.wanted(names, name, Some(nic));
        let recorded = names.recorded(name).map(|(address, _)| address);
        let wanted = match endpoint {
            Some(endpoint) => endpoint.addresses_for(name),
            None if Service::of(name).is_some() => Vec::new(),
            None => recorded.into_iter().collect(),
        };
        let own = |answered: &&ServerAnswer| answered.name == super::naming::plain(name);
        let answered = all.map(|all| all.iter().filter(own).collect::<Vec<_>>());
        let answered = answered.filter(|all| !all.is_empty());
        let asking = Asking { names, name, nic, machine: &machine.name, wanted, endpoint, answered };
        self.name_servers(&asking, hop);
    }

    /// Asks the servers of the machine: those of its interface, else those of its network, else the platform's.
    fn name_servers(&mut self, asking: &Asking<'a>, mut hop: Hop) {
        let estate = self.asked.estate;
        let network = asking.nic.network.clone().unwrap_or_else(|| "unknown".to_owned());
        let of_network = || estate.network(&network).map(|own| own.servers.clone()).unwrap_or_default();
        let own = if asking.nic.servers.is_empty() { of_network() } else { asking.nic.servers.clone() };
        let custom = own.into_iter().find(|server| Platform::of(*server).is_none());
        let server = custom.unwrap_or_else(|| Platform::Server.address());
        // Whoever hears the right address has no trouble with the name, whatever is configured.
        let of_server = asking.answer_of(server);
        if let Some(answered) = of_server
            && answered.addresses.iter().any(|address| asking.wanted.contains(address))
        {
            hop.reason =
                format!("{} hears {} for {}", asking.machine, shown(&answered.addresses), asking.name);
            self.push(hop);
            return;
        }
        let found = match custom {
            None => asking.in_network(&network),
            Some(server) => match self.server(asking, server, &network, &mut hop) {
                Some(found) => found,
                None => {
                    self.push(hop);
                    return;
                }
            },
        };
        match self.beside(asking, &network, found) {
            Found::Right(reason) => hop.reason = reason,
            Found::Wrong(cause, _) if self.is_gone(&cause) => {
                hop.reason = format!("{} leads to {}", asking.name, self.asked.flow.dst);
            }
            Found::Wrong(cause, why) => {
                let seen = of_server.map(|answered| format!("; {} hears {}", asking.machine, said(answered)));
                hop.stops.push(Effect::new(cause, format!("{why}{}", seen.unwrap_or_default())));
            }
            Found::Open(document, why) => hop.missing.push(Missing { what: document, why }),
        }
        self.push(hop);
    }

    /// Leaves open what a zone or an endpoint in the place of a peered network may decide, where none is known here.
    fn beside(&self, asking: &Asking<'a>, network: &str, found: Found) -> Found {
        let estate = self.asked.estate;
        let Some(missing) = estate.missing_names(network) else { return found };
        let is_untried =
            matches!(&missing.what, Document::Place(place) if !estate.places.contains_key(place));
        let is_open = match &found {
            Found::Wrong(cause, _) => {
                cause.fault == Fault::PrivateDnsUnlinked
                    && asking.names.zone_of(asking.name, network).is_none()
            }
            // A public address is what the machine gets: only an endpoint that nobody looked for makes it wrong.
            Found::Right(_) => is_untried && asking.wanted.is_empty() && Service::of(asking.name).is_some(),
            Found::Open(..) => false,
        };
        if is_open { Found::Open(missing.what, missing.why) } else { found }
    }

    /// Asks a server of somebody's own: whether it is there, whether it is reached, and what it knows. Nothing where what stops the
    /// question stands in the hop.
    fn server(&self, asking: &Asking<'a>, server: IpAddr, network: &str, hop: &mut Hop) -> Option<Found> {
        let estate = self.asked.estate;
        let wrong = |why: String| {
            let object = Object::NetworkServers { network: network.to_owned() };
            Found::Wrong(Cause::new(Fault::DnsServerWrong, object), why)
        };
        let silent = asking.answer_of(server).is_some_and(|answered| answered.status.is_none());
        let Some(owner) = estate.owners_seen(Some(network), server).first().copied() else {
            if let Some(missing) = estate.missing_beyond(server) {
                return Some(Found::Open(missing.what, missing.why));
            }
            if estate.is_managed(server) {
                let why = format!("whether the firewall at {server} answers questions for names");
                return Some(Found::Open(Document::Firewalls, why));
            }
            if estate.interfaces.read().is_some() && estate.network_of(server).is_some() {
                return Some(wrong(format!(
                    "the network {network} asks {server} for names, and nobody is there"
                )));
            }
            return Some(match asking.answer_of(server) {
                _ if silent => {
                    wrong(format!("the network {network} asks {server} for names, which does not answer"))
                }
                Some(_) => asking.forwarder(server, asking.zone(network)),
                None => {
                    let why = format!("what the name server {server} answers for {}", asking.name);
                    Found::Open(answers(asking.machine), why)
                }
            });
        };
        let stopped = self.question(asking, server, hop);
        if stopped {
            return None;
        }
        // It asks the platform in its own network, where it asks it at all.
        let theirs = estate.nic(owner).and_then(|nic| nic.network.clone());
        let theirs = theirs.as_deref().unwrap_or(network);
        let there = asking.in_network(theirs);
        Some(match (there, asking.answer_of(server)) {
            (Found::Right(_), None) => {
                let why = format!("what the name server {server} answers for {}", asking.name);
                Found::Open(answers(asking.machine), why)
            }
            (Found::Right(reason), Some(_)) if asking.wanted.is_empty() => Found::Right(reason),
            (Found::Right(_), Some(answered)) if answered.status.is_none() => {
                wrong(format!("the network {network} asks {server} for names, which does not answer"))
            }
            (Found::Right(_), Some(_)) => asking.forwarder(server, asking.zone(theirs)),
            (other @ (Found::Wrong(..) | Found::Open(..)), _) => other,
        })
    }

    /// Judges the question to a name server; true where something stops it.
    fn question(&self, asking: &Asking<'a>, server: IpAddr, hop: &mut Hop) -> bool {
        let Some(own) = asking.nic.addresses.iter().find(|own| own.is_ipv4() == server.is_ipv4()) else {
            return false;
        };
        let Ok(flow) = Flow::new(*own, server, Protocol::Udp, Some(NAMES)) else { return false };
        let judged = self.asked.estate.judge_without(&flow, self.asked.gone);
        if judged.fate == Fate::Unknown {
            hop.missing.extend(judged.missing());
        }
        for (_, effect) in judged.stops() {
            let nobody = effect.cause.fault.is_refusal().then(|| {
                let machine = self.asked.estate.machine_at(server).unwrap_or_default().to_owned();
                Cause::new(
                    Fault::NotListening,
                    Object::Listener { machine, protocol: Protocol::Udp, port: NAMES },
                )
            });
            let cause = nobody.unwrap_or_else(|| effect.cause.clone());
            if !self.is_gone(&cause) {
                let reason = format!(
                    "{}, so that the name server {server} is not asked for {}",
                    effect.reason, asking.name
                );
                hop.stops.push(Effect { cause, reason, ..effect.clone() });
            }
        }
        !hop.stops.is_empty()
    }

    /// Ends at a private endpoint, where one has the destination.
    pub(super) fn endpoint(&mut self, from: usize, wire: &Wire) -> bool {
        let estate = self.asked.estate;
        let own = estate.network_at(from);
        let Some(endpoint) = estate.endpoint_seen(own, wire.dst) else { return false };
        let nic = estate.nics.iter().position(|nic| {
            nic.addresses.contains(&wire.dst)
                && endpoint.nics.iter().any(|own| own.eq_ignore_ascii_case(&nic.name))
        });
        // Rules of its subnet hold for it only where the subnet says so.
        let subnet = estate.network_seen(own, wire.dst).and_then(|network| network.subnet_of(wire.dst));
        let has_rules =
            subnet.and_then(|subnet| subnet.endpoint_policies.as_deref()).is_some_and(|policies| {
                ["enabled", "networksecuritygroupenabled"].contains(&policies.to_ascii_lowercase().as_str())
            });
        if let Some(nic) = nic.filter(|_| has_rules) {
            self.groups(nic, Direction::Inbound, wire);
        }
        let mut hop = Hop::new(Kind::Endpoint, &endpoint.name).on(Document::Names);
        hop.reason = format!("the private endpoint {} leads to {}", endpoint.name, endpoint.service);
        let cause = Cause::new(Fault::PeNotApproved, Object::Endpoint { endpoint: endpoint.name.clone() });
        if !endpoint.is_approved() && !self.is_gone(&cause) {
            let why = format!(
                "the connection of the private endpoint {} to {} is {}",
                endpoint.name, endpoint.service, endpoint.status
            );
            hop.stops.push(Effect::new(cause, why));
        }
        self.push(hop);
        true
    }
}

impl<'a> Asking<'a> {
    fn answer_of(&self, server: IpAddr) -> Option<&'a ServerAnswer> {
        self.answered.as_ref()?.iter().copied().find(|answered| answered.server == server)
    }

    /// Returns the name of the zone that should hold the name.
    fn zone(&self, network: &str) -> String {
        let there = self.names.zone_of(self.name, network).map(|zone| zone.name.clone());
        let usual = || Service::of(self.name).map(|(own, _)| own.zone.to_owned());
        there.or_else(usual).unwrap_or_else(|| self.name.to_owned())
    }

    fn forwarder(&self, server: IpAddr, zone: String) -> Found {
        let answered = self.answer_of(server).map(said).unwrap_or_default();
        let why = format!(
            "the name server {server} answers {answered} for {}: it does not ask the platform for {zone}",
            self.name
        );
        Found::Wrong(Cause::new(Fault::DnsForwarderMissing, Object::Forwarder { server, zone }), why)
    }

    /// Says what the platform's own server makes of the name in a network.
    fn in_network(&self, network: &str) -> Found {
        if self.names.zones.read().is_none() {
            let why = format!("which private zones {network} sees: {}", self.names.zones.why_not());
            return Found::Open(Document::Names, why);
        }
        let zone = |fault: Fault, zone: &str, part: &str| {
            Cause::new(fault, Object::Zone { zone: zone.to_owned(), part: part.to_owned() })
        };
        let to = match self.endpoint {
            Some(endpoint) => format!("the private endpoint {} with {}", endpoint.name, shown(&self.wanted)),
            None => shown(&self.wanted),
        };
        match self.names.answer(self.name, network) {
            Answer::Private(address, _) if self.wanted.is_empty() || self.wanted.contains(&address) => {
                Found::Right(format!("{} leads to {address} in {network}", self.name))
            }
            Answer::Private(address, own) => {
                let label = self.label(own);
                let why = format!(
                    "the record {label} of {} is {address}, and {} should lead to {to}",
                    own.name, self.name
                );
                Found::Wrong(zone(Fault::PrivateDnsRecordStale, &own.name, &label), why)
            }
            Answer::NoRecord(own, label) if self.endpoint.is_none() => {
                let why = format!(
                    "the zone {} of {} is linked to {network} and has no record {label}, so that {} has no address there, although it is somebody else's and known outside",
                    own.name, own.group, self.name
                );
                Found::Wrong(zone(Fault::PrivateDnsShadow, &own.name, network), why)
            }
            Answer::NoRecord(own, label) | Answer::Redirected(own, label) if self.endpoint.is_some() => {
                let why = format!(
                    "the zone {} of {}, which {network} asks, has no record {label}; it should lead to {to}",
                    own.name, own.group
                );
                Found::Wrong(zone(Fault::PrivateDnsRecordMissing, &own.name, &label), why)
            }
            Answer::Public | Answer::Redirected(..) if self.wanted.is_empty() => {
                Found::Right(format!("{} leads to a public address", self.name))
            }
            // Where no zone is there that could hold it, nobody knows which one the platform asks for a service like this.
            Answer::Public | Answer::NoRecord(..) | Answer::Redirected(..)
                if Service::of(self.name).is_none()
                    && (self.names.zone_of(self.name, network).is_none()
                        || self.names.holds(network, &self.wanted)) =>
            {
                let why = format!("in which private zone {} is asked for, to lead to {to}", self.name);
                Found::Open(Document::Names, why)
            }
            Answer::Public | Answer::NoRecord(..) | Answer::Redirected(..) => {
                let own = self.zone(network);
                let why = format!(
                    "{network} does not see the zone {own}, so that {} leads to a public address there in place of {to}",
                    self.name
                );
                Found::Wrong(zone(Fault::PrivateDnsUnlinked, &own, network), why)
            }
        }
    }

    fn label(&self, zone: &super::naming::Zone) -> String {
        let questions = self.names.questions(self.name);
        questions.iter().find_map(|question| zone.label(question)).unwrap_or_else(|| "@".to_owned())
    }
}

fn answers(machine: &str) -> Document {
    Document::Guest { machine: machine.to_owned(), document: GuestDocument::Answers }
}

fn shown(addresses: &[IpAddr]) -> String {
    addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ")
}

/// Says what a name server answered.
fn said(answered: &ServerAnswer) -> String {
    let is_public = |address: &IpAddr| !is_private(*address);
    match (answered.status.as_deref(), answered.addresses.as_slice()) {
        (None, _) => "no answer".to_owned(),
        (Some("NXDOMAIN"), _) => "that there is no such name".to_owned(),
        (Some(status), []) => status.to_owned(),
        (Some(_), all) if all.iter().all(is_public) => format!("the public address {}", shown(all)),
        (Some(_), all) => shown(all),
    }
}
