//! Reads what decides over flows: the lists of the cloud, then effective routes and rules and the state of the machines on the path.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::bastion_flows::BastionWords;
use super::cluster_flows::ClusterWords;
use super::inspector::Unfinished;
use super::inventory::{inventory, names};
use super::object::object;
use crate::complaint::{self, Basis, Complaint, End, Inventory, UnknownEnd};
use crate::event::ObservationId;
use crate::suspect::stops;
use crate::symptom_text::Symptom;
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
use ghost_base::Limit;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceScope};
use ghost_cloud::probe::topology::Topology;
use ghost_cloud::probe::{
    EstateOperation, FlowLogOperation, FlowLogQuery, HealthOperation, NAMES, NameServer, PAGE, Places,
    PlatformHealthOperation, ProbeSpec, RESOLVE, STATE, Wanted, keep_power, page_values, power, unread_guest,
    wanted, wants_events,
};
use ghost_cloud::{Name, ResourceGroup};
use ghost_inspect::netfilter::{self, Host};
use ghost_inspect::path::{self, Bundle, Cause, Estate, Flow, Object, PageQuestion, Reading};

/// More rounds are not needed: each goes at least one machine further along the path.
const ROUNDS: Limit = Limit::new("path.rounds", 8);
/// How many resource groups of peered networks are read because an end is none of the machines.
const BESIDE: Limit = Limit::new("path.beside", 4);
/// How many machines are read if the words name none: each costs a run on that machine.
const MACHINES: Limit = Limit::new("path.machines", 30);
/// Stands for any address outside.
pub(super) const INTERNET: [u8; 4] = [8, 8, 8, 8];
/// So many observations are cited for one fault.
pub(super) const MAX_CITED: usize = 4;

/// The documents of an estate, as far as they were needed.
pub(super) struct EstateReader<'a> {
    pub(super) place: &'a ResourceGroup,
    site: &'a Site,
    /// The resource groups that are read: that one, and others into which flows lead.
    pub(super) places: Places,
    pub(super) bundle: Bundle,
    /// The same, parsed, until something more is read.
    parsed: OnceCell<Estate>,
    lists: Vec<ObservationId>,
    /// Names of services and of private zones that people wrote.
    pub(super) spoken: Vec<String>,
    /// How people speak of a bastion host, where they do.
    pub(super) through: Option<BastionWords>,
    /// How people speak of a cluster, where they do.
    pub(super) of_clusters: Option<ClusterWords>,
    /// Addresses that people wrote and that may be at another site.
    pub(super) elsewhere: Vec<IpAddr>,
    pub(super) read: BTreeMap<Wanted, Vec<ObservationId>>,
    /// What a limit cut off.
    unjudged: RefCell<BTreeSet<String>>,
}

/// A port for a question that is about a name alone.
pub(super) const ANY_PORT: u16 = 443;

/// Joins what was read of a guest before with what is read now.
fn joined(before: Option<Reading>, now: Reading) -> Reading {
    match (before, now) {
        (Some(Reading::Text(before)), Reading::Text(more)) => Reading::Text(before + &more),
        (Some(before @ Reading::Text(_)), Reading::Failed { .. }) => before,
        (_, now) => now,
    }
}

/// Tells whether the lists of private endpoints and zones show an object.
fn is_of_names(object: &Object) -> bool {
    matches!(
        object,
        Object::Endpoint { .. }
            | Object::Zone { .. }
            | Object::NetworkServers { .. }
            | Object::Forwarder { .. }
    )
}

/// Tells whether what an application gateway says of its servers shows an object.
fn is_of_gateway(object: &Object, own: &str) -> bool {
    matches!(object, Object::AppGatewayPart { gateway, .. } | Object::AppGatewayServer { gateway, .. } if gateway.eq_ignore_ascii_case(own))
}

/// Words of whoever speaks of something that stands in front of several machines.
const BALANCER_WORDS: [&str; 19] = [
    "load balanc",
    "loadbalanc",
    "lastverteil",
    "-lb",
    " lb",
    "probe",
    "backend pool",
    "frontend ip",
    "vip ",
    "directly",
    "direkt",
    "one of three",
    "502",
    "504",
    "bad gateway",
    "application gateway",
    "app gateway",
    "appgw",
    "agw",
];

/// Tells whether somebody speaks of something in front of machines.
fn speaks_of_balancer(text: &str) -> bool {
    let text = format!(" {} ", text.to_lowercase());
    BALANCER_WORDS.iter().any(|word| text.contains(word))
}

impl<'a> EstateReader<'a> {
    /// Reads the lists.
    pub(super) fn read(
        place: &'a ResourceGroup,
        site: &'a Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Self, Unfinished> {
        let cloud = replay.run_or_reuse(&mut EstateOperation::new(place))??;
        let bundle = Bundle { cloud, ..Bundle::default() };
        let (parsed, lists) = (OnceCell::new(), replay.observations());
        Ok(Self {
            place,
            places: Places::new(place),
            site,
            bundle,
            parsed,
            lists,
            spoken: Vec::new(),
            through: None,
            of_clusters: None,
            elsewhere: Vec::new(),
            read: BTreeMap::new(),
            unjudged: RefCell::default(),
        })
    }

    /// Records that a limit cut off so much of something.
    pub(super) fn leave(&self, cut: usize, what: &str) {
        if cut > 0 {
            self.unjudged.borrow_mut().insert(format!("{cut} more {what}"));
        }
    }

    /// Returns what a limit cut off.
    pub(super) fn unjudged(&self) -> Vec<String> {
        self.unjudged.borrow().iter().cloned().collect()
    }

    /// Returns everything that was read.
    pub(super) fn estate(&self) -> &Estate {
        self.parsed.get_or_init(|| Estate::of(&self.bundle))
    }

    /// Returns the name of the resource group.
    pub(super) fn group(&self) -> &str {
        self.place.group.as_str()
    }

    /// Returns the documents that were read so far.
    pub(super) fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns the complaints of a text with their flows, and everything read that decides over these.
    ///
    /// Who listens decides which machines are meant where nobody is named, and who is meant decides what is read: so both go on
    /// until nothing changes any more.
    pub(super) fn resolve(
        &mut self,
        text: &str,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Vec<(Complaint, Vec<Flow>)>, Unfinished> {
        let message = complaint::read(text);
        if speaks_of_balancer(text) {
            self.fetch(Wanted::Frontends, replay)?;
        }
        self.of_clusters = ClusterWords::of(text);
        if self.of_clusters.is_some() {
            self.fetch(Wanted::Clusters, replay)?;
            self.fetch(Wanted::Names, replay)?;
        }
        self.through = BastionWords::of(text, self.estate());
        if self.through.is_some() {
            self.fetch(Wanted::Bastions, replay)?;
        }
        self.listen(text, replay)?;
        let mut is_beside_read = false;
        let mut complaints = Vec::new();
        let mut is_whole = false;
        for _ in 0..ROUNDS.most() {
            complaints = complaint::resolve(&message, &self.inventory());
            // An address or a name that no machine has may be that of a load balancer.
            let is_unknown = complaints.iter().any(|one| self.is_elsewhere(one, text));
            if is_unknown && !self.read.contains_key(&Wanted::Frontends) {
                self.fetch(Wanted::Frontends, replay)?;
                continue;
            }
            // Or it is of another group, with whose network one of this group is peered.
            let beside = self.estate().places_beside();
            if is_unknown && !is_beside_read && !beside.is_empty() {
                is_beside_read = true;
                let mut beside: Vec<_> = beside.into_iter().collect();
                let cut = BESIDE.cut(&mut beside);
                self.leave(cut, "resource groups of peered networks");
                for place in beside {
                    self.fetch(Wanted::Place(place), replay)?;
                }
                self.listen(text, replay)?;
                continue;
            }
            // So may a name be that of a bastion host.
            let is_name = |end: &UnknownEnd| matches!(end, UnknownEnd::Name { .. });
            let is_named = complaints.iter().flat_map(|one| &one.unknown).any(is_name);
            if is_named && !self.read.contains_key(&Wanted::Bastions) {
                self.fetch(Wanted::Bastions, replay)?;
                continue;
            }
            let before = self.read.len();
            let all: Vec<Flow> = complaints.iter().flat_map(|one| self.flows_of(one)).collect();
            self.read_for(&all, replay)?;
            for one in &complaints {
                self.read_around(one, replay)?;
            }
            if self.read.len() == before {
                is_whole = true;
                break;
            }
        }
        if !is_whole {
            self.leave(1, "rounds of reading");
            complaints = complaint::resolve(&message, &self.inventory());
        }
        let with_flows = |one| {
            let flows = self.flows_of(&one);
            (one, flows)
        };
        Ok(complaints.into_iter().map(with_flows).collect())
    }

    /// Reads what a complaint needs beside its flows: who listens where it leaves out an end or a port, the rules where exposure is
    /// the question.
    fn read_around(
        &mut self,
        complaint: &Complaint,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<(), Unfinished> {
        let mut wanted: BTreeSet<Wanted> = BTreeSet::new();
        match complaint.kind {
            complaint::Kind::Exposure => {
                let estate = self.estate();
                for machine in &complaint.machines {
                    wanted.extend(estate.nics_of(machine).into_iter().map(Wanted::Rules));
                }
            }
            complaint::Kind::Trouble | complaint::Kind::Drift => {
                let ends = complaint.flows.iter().flat_map(|flow| [&flow.source, &flow.destination]);
                let is_inferred =
                    ends.clone().any(|end| matches!(end, End::Machine { basis: Basis::Inferred, .. }));
                // Between somebody and a name that nothing here has there is nothing to read.
                let has_no_flow =
                    complaint.flows.is_empty() && !complaint.ports.is_empty() && complaint.unknown.is_empty();
                if is_inferred || has_no_flow {
                    let mut names: Vec<String> = self.estate().machines().map(str::to_owned).collect();
                    let cut = MACHINES.cut(&mut names);
                    self.leave(cut, "machines that may be meant");
                    wanted.extend(names.into_iter().map(Wanted::State));
                }
                let portless =
                    complaint.flows.iter().filter(|flow| flow.protocol != complaint::Protocol::Icmp);
                wanted.extend(
                    portless
                        .filter_map(|flow| flow.destination.machine())
                        .map(|name| Wanted::State(name.to_owned())),
                );
                if complaint.symptoms.contains(&Symptom::Names) {
                    wanted.extend(complaint.machines.iter().cloned().map(Wanted::State));
                }
            }
            complaint::Kind::Leftovers => {}
        }
        // A load balancer is spoken of as a machine, and nobody can look into it.
        let is_there = |one: &Wanted| match one {
            Wanted::State(name) => {
                let estate = self.estate();
                let is_bastion = estate.bastions().any(|(own, _)| own == name);
                !is_bastion && estate.frontend_addresses(name).is_empty()
            }
            Wanted::Place(_)
            | Wanted::Frontends
            | Wanted::Bastions
            | Wanted::Clusters
            | Wanted::Health(_)
            | Wanted::Firewalls
            | Wanted::Names
            | Wanted::Gateways
            | Wanted::Outbound
            | Wanted::Answers(..)
            | Wanted::Page(..)
            | Wanted::Power(_)
            | Wanted::Availability(_)
            | Wanted::Events
            | Wanted::FlowLogs(_)
            | Wanted::Routes(_)
            | Wanted::Rules(_) => true,
        };
        wanted.retain(is_there);
        wanted.retain(|one| !self.read.contains_key(one));
        for one in wanted {
            self.fetch(one, replay)?;
        }
        Ok(())
    }

    pub(super) fn inventory(&self) -> Inventory {
        let topology = Topology::read(self.place.group.as_str(), &self.bundle.cloud);
        let mut inventory = inventory(&topology, self.estate());
        inventory.elsewhere.clone_from(&self.elsewhere);
        inventory.others = names(&self.bundle.cloud);
        let source =
            self.estate().machines().find_map(|name| self.estate().addresses_of(name).first().copied());
        for name in &self.spoken {
            let flow = source.and_then(|source| {
                self.estate().flow_to_name(source, name, path::Protocol::Tcp, Some(ANY_PORT))
            });
            let addresses = flow.into_iter().map(|flow| flow.dst).collect();
            inventory.names.push(complaint::Name { name: name.clone(), addresses, backends: Vec::new() });
        }
        inventory
    }

    /// Returns the flows of the machines of a complaint to the names that people wrote.
    pub(super) fn flows_by_name(&self, complaint: &Complaint) -> Vec<Flow> {
        let estate = self.estate();
        let named = complaint.flows.iter().filter_map(|flow| flow.source.machine());
        let mut callers: Vec<&str> = named.collect();
        callers.extend(complaint.machines.iter().map(String::as_str));
        callers.sort_unstable();
        callers.dedup();
        let mut flows = Vec::new();
        for caller in callers {
            // A machine that serves the name itself calls nobody.
            let Some(from) = estate.addresses_of(caller).first().copied() else { continue };
            let text = complaint.text.to_lowercase();
            let label = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
            for name in self.spoken.iter().filter(|name| text.contains(&label(name))) {
                let named = complaint.ports.iter().filter_map(|service| service.port).next();
                flows.extend(estate.flow_to_name(from, name, path::Protocol::Tcp, named));
            }
        }
        flows
    }

    /// Reads what decides over some flows, until nothing is missing that can be read.
    pub(super) fn read_for(
        &mut self,
        flows: &[Flow],
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<(), Unfinished> {
        for _ in 0..ROUNDS.most() {
            let mut wanted = wanted(self.estate(), flows);
            wanted.retain(|one| !self.read.contains_key(one));
            if wanted.is_empty() {
                // Only where nothing else is left to read, and nothing that was read stops a flow.
                if !self.read.contains_key(&Wanted::Events) && wants_events(self.estate(), flows) {
                    self.fetch(Wanted::Events, replay)?;
                }
                if let Some(query) = FlowLogQuery::of(self.estate(), flows) {
                    let is_read = |one: &Wanted| matches!(one, Wanted::FlowLogs(own) if own.covers(&query));
                    if !self.read.keys().any(is_read) {
                        self.fetch(Wanted::FlowLogs(query), replay)?;
                    }
                }
                break;
            }
            for one in wanted {
                self.fetch(one, replay)?;
            }
        }
        Ok(())
    }

    /// Reads what the name servers of a machine answer for a name, beside what they answered for others.
    fn answers(
        &mut self,
        machine: &str,
        name: &str,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<(), Unfinished> {
        let asked = vec![("name", name.to_owned())];
        let reading = self.asked(machine, &RESOLVE, asked, replay)?;
        let guest = self.bundle.guests.entry(machine.to_owned()).or_default();
        guest.answers = Some(joined(guest.answers.take(), reading));
        Ok(())
    }

    /// Reads what a machine answers where a probe asks for a page, beside what it answered to others.
    fn page(
        &mut self,
        machine: &str,
        question: &PageQuestion,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<(), Unfinished> {
        let reading = self.asked(machine, &PAGE, page_values(question), replay)?;
        let guest = self.bundle.guests.entry(machine.to_owned()).or_default();
        guest.pages = Some(joined(guest.pages.take(), reading));
        Ok(())
    }

    fn asked(
        &self,
        machine: &str,
        wanted: &'static ProbeSpec<Reading>,
        asked: Vec<(&'static str, String)>,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Reading, Unfinished> {
        let Some(guest) = self.guest(machine) else {
            return Ok(Reading::Failed { error: "its name is none of the platform's".to_owned() });
        };
        match guest.gather_for(wanted, asked, self.site, replay) {
            Err(Unfinished::Issue(issue)) => Ok(Reading::Failed { error: issue.text }),
            other => other,
        }
    }

    pub(super) fn fetch(&mut self, one: Wanted, replay: &mut CallReplay<'_, '_>) -> Result<(), Unfinished> {
        let before = replay.observations().len();
        match &one {
            Wanted::Place(place) => self.open(place, replay)?,
            Wanted::Health(gateway) => self.health(gateway, replay)?,
            Wanted::Frontends
            | Wanted::Bastions
            | Wanted::Clusters
            | Wanted::Firewalls
            | Wanted::Gateways
            | Wanted::Names
            | Wanted::Outbound => {
                for group in self.places.all() {
                    self.read_in(&one, &group, replay)?;
                }
            }
            Wanted::Power(machine) => {
                let (place, name) = self.places.of_machine(&self.bundle.cloud, machine);
                let read = match Name::parse(&name) {
                    Ok(name) => replay.run(&mut power(&place, &name))?,
                    Err(error) => Err(Issue::new(error.to_string())),
                };
                keep_power(read, &mut self.bundle.cloud);
            }
            Wanted::Availability(machine) => {
                let (place, name) = self.places.of_machine(&self.bundle.cloud, machine);
                if let Ok(name) = Name::parse(&name) {
                    let found = replay.run(&mut PlatformHealthOperation::machine(&place, &name))?;
                    found.into_cloud(&mut self.bundle.cloud);
                }
            }
            Wanted::Events => {
                let found = replay.run(&mut PlatformHealthOperation::events(self.place))?;
                found.into_cloud(&mut self.bundle.cloud);
            }
            Wanted::FlowLogs(query) => {
                let read = replay.run(&mut FlowLogOperation::new(self.place, query))?;
                FlowLogOperation::into_cloud(read, &mut self.bundle.cloud);
            }
            Wanted::Answers(machine, name) => self.answers(machine, name, replay)?,
            Wanted::Page(machine, question) => self.page(machine, question, replay)?,
            Wanted::Routes(nic) => {
                let reading = self.effective(nic, EffectiveQuery::Routes, replay)?;
                self.bundle.nics.entry(nic.clone()).or_default().routes = Some(reading);
            }
            Wanted::Rules(nic) => {
                let reading = self.effective(nic, EffectiveQuery::Rules, replay)?;
                self.bundle.nics.entry(nic.clone()).or_default().rules = Some(reading);
            }
            Wanted::State(machine) => {
                let mut guest = self.state(machine, replay)?;
                if let Some(known) = self.bundle.guests.remove(machine) {
                    (guest.answers, guest.pages) = (known.answers, known.pages);
                }
                self.bundle.guests.insert(machine.clone(), guest);
            }
        }
        let observations = replay.observations().split_off(before);
        self.read.insert(one, observations);
        self.parsed.take();
        Ok(())
    }

    /// Reads what an application gateway says of the servers behind it.
    fn health(&mut self, gateway: &str, replay: &mut CallReplay<'_, '_>) -> Result<(), Unfinished> {
        let (place, own) = self.places.of_application_gateway(&self.bundle.cloud, gateway);
        let Ok(name) = Name::parse(&own) else { return Ok(()) };
        let found = replay.run(&mut HealthOperation::new(&place, &name))?;
        HealthOperation::into_cloud(found, &mut self.bundle.cloud);
        Ok(())
    }

    fn effective(
        &self,
        nic: &str,
        query: EffectiveQuery,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Reading, Unfinished> {
        let (place, own) = self.places.of_interface(&self.bundle.cloud, nic);
        let Ok(name) = Name::parse(&own) else {
            return Ok(Reading::Failed { error: "its name is none of the platform's".to_owned() });
        };
        let scope = InterfaceScope::Interface(name);
        let found = replay.run(&mut Effective::all(&place, &scope, &[query]))?;
        let read = found.and_then(|found| {
            let one = found.first().ok_or_else(|| Issue::new("it was not found"))?;
            one.text(query).map(str::to_owned)
        });
        Ok(read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text))
    }

    /// Reads the state of a machine, however it is reached.
    fn state(&self, machine: &str, replay: &mut CallReplay<'_, '_>) -> Result<path::Guest, Unfinished> {
        let Some(guest) = self.guest(machine) else {
            return Ok(unread_guest("its name is none of the platform's"));
        };
        match guest.gather_by_any(&STATE, self.site, replay) {
            Err(Unfinished::Issue(issue)) => Ok(unread_guest(&issue.text)),
            other => other,
        }
    }

    /// Asks the name servers of a machine, and returns the observations of that; nothing where they cannot be asked.
    pub(super) fn name_servers(
        &self,
        machine: &str,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<(Vec<NameServer>, Vec<ObservationId>), Unfinished> {
        let Some(guest) = self.guest(machine) else { return Ok((Vec::new(), Vec::new())) };
        let before = replay.observations().len();
        match guest.gather_by_any(&NAMES, self.site, replay) {
            Ok(servers) => Ok((servers, replay.observations().split_off(before))),
            Err(Unfinished::Issue(_)) => Ok((Vec::new(), Vec::new())),
            Err(unfinished) => Err(unfinished),
        }
    }

    /// Tells something about the state of a machine, where it was read.
    pub(super) fn read_state(&self, machine: &str, test: impl Fn(&path::Guest) -> bool) -> bool {
        self.bundle.guests.get(machine).is_some_and(test)
    }

    /// Returns the words that show a fault in a packet filter, as the inspector of filters has them.
    pub(super) fn words(&self, cause: &Cause) -> Option<String> {
        let machine = cause.object.machine()?;
        let guest = self.bundle.guests.get(machine)?;
        let mut bundle = netfilter::Bundle::default();
        for (source, reading) in &guest.filters {
            let text = match reading {
                Reading::Text(text) => netfilter::Source::Text(text.clone()),
                Reading::Failed { error } => netfilter::Source::Failed { error: error.clone() },
            };
            bundle.sources.insert(source.clone(), text);
        }
        let all = stops(machine, &Host::read(&bundle));
        let (code, named) = (cause.fault.as_str(), object(&cause.object));
        let mut suspects = all.into_iter().flat_map(|stop| stop.suspects);
        suspects.find(|suspect| suspect.code == code && suspect.object == named).map(|suspect| suspect.why)
    }

    /// Returns the observations that show an object of a flow.
    pub(super) fn observations(&self, object: &Object, flow: &Flow) -> Vec<ObservationId> {
        self.showing(object, Some(flow))
    }

    /// Returns the observations that show an object.
    pub(super) fn shown(&self, object: &Object) -> Vec<ObservationId> {
        self.showing(object, None)
    }

    fn showing(&self, object: &Object, flow: Option<&Flow>) -> Vec<ObservationId> {
        let estate = self.estate();
        // Who listens is seen on the machine that is called.
        let called = flow.filter(|_| matches!(object, Object::Flow { .. }));
        let called = called.and_then(|flow| estate.machine_at(flow.dst));
        let machine = object.machine().or(called);
        let is_shown = |read: &Wanted| match read {
            // The lists of another group are cited where nothing else shows an object.
            Wanted::Place(_) => false,
            Wanted::Frontends => matches!(
                object,
                Object::BalancerPort { .. }
                    | Object::BalancerPart { .. }
                    | Object::BalancerMember { .. }
                    | Object::AppGateway { .. }
                    | Object::AppGatewayPart { .. }
            ),
            Wanted::Health(own) => is_of_gateway(object, own),
            Wanted::Bastions => matches!(object, Object::Bastion { .. }),
            Wanted::Clusters => matches!(object, Object::Cluster { .. }),
            Wanted::Firewalls => matches!(
                object,
                Object::FirewallRule { .. } | Object::FirewallPort { .. } | Object::FirewallNames { .. }
            ),
            Wanted::Gateways => matches!(
                object,
                Object::Connection { .. }
                    | Object::LocalGateway { .. }
                    | Object::GatewayPeer { .. }
                    | Object::GatewayPrefix { .. }
                    | Object::Circuit { .. }
                    | Object::CircuitPeering { .. }
            ),
            Wanted::Outbound => {
                matches!(object, Object::NatGateway { .. } | Object::SourceTranslation { .. })
            }
            Wanted::Power(own) => {
                matches!(object, Object::Machine { machine } if machine.eq_ignore_ascii_case(own))
            }
            Wanted::Availability(_) | Wanted::Events => matches!(object, Object::Health { .. }),
            Wanted::Names => is_of_names(object),
            Wanted::Answers(own, name) => {
                let caller = flow.and_then(|flow| estate.machine_at(flow.src));
                let is_name = flow.and_then(|flow| flow.name.as_ref()) == Some(name);
                is_of_names(object)
                    && is_name
                    && caller.is_some_and(|caller| caller.eq_ignore_ascii_case(own))
            }
            // What a member answers shows what is wrong with the probe.
            Wanted::Page(..) => matches!(object, Object::BalancerPart { .. }),
            Wanted::Rules(_) => matches!(object, Object::NsgRule { .. }),
            // A log shows what a rule did, once the rule itself is shown.
            Wanted::FlowLogs(_) => false,
            Wanted::Routes(_) => matches!(object, Object::Route { .. }),
            Wanted::State(own) => machine.is_some_and(|machine| own.eq_ignore_ascii_case(machine)),
        };
        let mut names: Vec<&str> = Vec::new();
        if let Object::NsgRule { group, rule } = object {
            names.extend([group.as_str(), rule.as_str()]);
        }
        if let Object::Route { route, .. } = object {
            names.push(route);
        }
        let holds = |read: &Wanted| {
            let text = match read {
                Wanted::Rules(nic) => self.bundle.nics.get(nic).and_then(|nic| nic.rules.as_ref()),
                Wanted::Routes(nic) => self.bundle.nics.get(nic).and_then(|nic| nic.routes.as_ref()),
                Wanted::State(_)
                | Wanted::Place(_)
                | Wanted::Frontends
                | Wanted::Bastions
                | Wanted::Clusters
                | Wanted::Health(_)
                | Wanted::Firewalls
                | Wanted::Names
                | Wanted::Gateways
                | Wanted::Outbound
                | Wanted::Power(_)
                | Wanted::Availability(_)
                | Wanted::Events
                | Wanted::FlowLogs(_)
                | Wanted::Page(..)
                | Wanted::Answers(..) => return true,
            };
            match text {
                Some(Reading::Text(text)) => names.iter().all(|name| text.contains(name)),
                Some(Reading::Failed { .. }) | None => false,
            }
        };
        let found = self.read.iter().filter(|(read, _)| is_shown(read) && holds(read));
        let mut found: Vec<ObservationId> = found.flat_map(|(_, ids)| ids.iter().copied()).collect();
        if found.is_empty() {
            found = self.shown_beside(object);
        }
        // What the effective tables do not show stands in the lists; with them something that this call read itself.
        if found.is_empty() {
            found = self.lists.iter().rev().take(MAX_CITED - 1).copied().collect();
            let own = self.read.iter().rev().flat_map(|(_, ids)| ids.iter().copied());
            found.extend(own.into_iter().find(|id| !self.lists.contains(id)));
        }
        found.truncate(MAX_CITED);
        found
    }
}
