//! Reads an estate from the cloud and from inside its machines: everything by commands that only read.

use std::collections::{BTreeMap, BTreeSet};

use super::place;
use crate::live::{Live, or_fail};
use crate::print::{harmless, note};
use ghost_cloud::guest::GuestAccess;
use ghost_cloud::operation::{CommandRequest, Issue, ReadOperation};
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceScope};
use ghost_cloud::probe::{
    EstateOperation, FirewallOperation, FlowLogOperation, FlowLogQuery, FrontendOperation, GatewayOperation,
    GuestProbe, HealthOperation, NamingOperation, OutboundOperation, PAGE, Places, PlatformHealthOperation,
    ProbeSpec, RESOLVE, STATE, Wanted, bastions, clusters, keep_bastions, keep_clusters, keep_power,
    page_values, power, unread_guest, wanted, wants_events,
};
use ghost_cloud::{Name, ResourceGroup, line};
use ghost_inspect::path::{Bundle, Cloud, Estate, Flow, Place, Protocol, Reading};

/// More rounds are not needed: each goes at least one machine further along a path.
const MAX_ROUNDS: usize = 16;
/// So many resource groups of peered networks are read because an end is none of the machines.
const MAX_BESIDE: usize = 4;

/// A bundle that grows as it is needed.
pub struct LiveEstate {
    live: Live,
    group: ResourceGroup,
    /// The resource groups that are read: that one, and others into which flows lead.
    places: Places,
    bundle: Bundle,
    read: BTreeSet<Wanted>,
    /// How many documents could not be read.
    unread: usize,
}

impl LiveEstate {
    /// Reads the lists of a resource group.
    pub fn open(live: Live, group: ResourceGroup) -> anyhow::Result<Self> {
        let cloud = or_fail(live.drive(EstateOperation::new(&group))?)?;
        let bundle = Bundle { format: 1, cloud, ..Bundle::default() };
        let places = Places::new(&group);
        Ok(Self { live, group, places, bundle, read: BTreeSet::new(), unread: 0 })
    }

    /// Returns what was read.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns it, ready to judge flows.
    pub fn estate(&self) -> Estate {
        Estate::of(&self.bundle)
    }

    /// Returns how many documents could not be read.
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Reads what decides over some flows, until nothing is missing that can be read.
    pub fn read_for(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        for _ in 0..MAX_ROUNDS {
            let mut wanted = wanted(&self.estate(), flows);
            wanted.retain(|one| !self.read.contains(one));
            if wanted.is_empty() {
                // Only where nothing else is left to read, and nothing that was read stops a flow.
                if !self.read.contains(&Wanted::Events) && wants_events(&self.estate(), flows) {
                    self.fetch(Wanted::Events)?;
                }
                if let Some(query) = FlowLogQuery::of(&self.estate(), flows) {
                    let is_read = |one: &Wanted| matches!(one, Wanted::FlowLogs(own) if own.covers(&query));
                    if !self.read.iter().any(is_read) {
                        self.fetch(Wanted::FlowLogs(query))?;
                    }
                }
                break;
            }
            self.fetch_each(wanted)?;
        }
        Ok(())
    }

    /// Returns the flow between two ends. One that is none of the machines may be a load balancer.
    pub fn flow(&mut self, from: &str, to: &str, protocol: Protocol) -> anyhow::Result<Flow> {
        let found = place::flow(&self.estate(), from, to, protocol);
        if found.is_ok() || self.read.contains(&Wanted::Frontends) {
            return found;
        }
        self.fetch(Wanted::Frontends)?;
        let mut found = place::flow(&self.estate(), from, to, protocol);
        if found.is_err() && !to.contains('.') {
            // It may be of another group, with whose network one of this group is peered.
            for place in self.estate().places_beside().into_iter().take(MAX_BESIDE) {
                self.fetch(Wanted::Place(place))?;
            }
            found = place::flow(&self.estate(), from, to, protocol);
        }
        if found.is_ok() {
            return found;
        }
        // A caller that none of the machines is may be a bastion host.
        self.fetch(Wanted::Bastions)?;
        let found = place::flow(&self.estate(), from, to, protocol);
        if found.is_ok() {
            return found;
        }
        // Who is called may be the API server of a cluster.
        self.fetch(Wanted::Clusters)?;
        if self.estate().clusters().any(|(name, _)| name.eq_ignore_ascii_case(to)) {
            self.fetch(Wanted::Names)?;
        }
        let found = place::flow(&self.estate(), from, to, protocol);
        // A name with points in it may be one of a service, or of a private zone.
        if found.is_ok() || !to.contains('.') {
            return found;
        }
        self.fetch(Wanted::Names)?;
        place::flow(&self.estate(), from, to, protocol)
    }

    /// Reads everything of every machine.
    pub fn read_all(&mut self) -> anyhow::Result<()> {
        self.fetch(Wanted::Frontends)?;
        self.fetch(Wanted::Bastions)?;
        self.fetch(Wanted::Clusters)?;
        self.fetch(Wanted::Firewalls)?;
        self.fetch(Wanted::Names)?;
        self.fetch(Wanted::Gateways)?;
        self.fetch(Wanted::Outbound)?;
        let estate = self.estate();
        let mut wanted: Vec<Wanted> =
            estate.application_gateways().map(|name| Wanted::Health(name.to_owned())).collect();
        for machine in estate.machines() {
            for nic in estate.nics_of(machine) {
                wanted.extend([Wanted::Routes(nic.clone()), Wanted::Rules(nic)]);
            }
            wanted.push(Wanted::State(machine.to_owned()));
        }
        self.fetch_each(wanted)
    }

    /// Fetches some documents: those of interfaces together, as the platform works on many of them at a time.
    fn fetch_each(&mut self, wanted: impl IntoIterator<Item = Wanted>) -> anyhow::Result<()> {
        let mut nics: BTreeMap<String, Vec<EffectiveQuery>> = BTreeMap::new();
        let mut others = Vec::new();
        for one in wanted {
            match &one {
                Wanted::Routes(nic) => nics.entry(nic.clone()).or_default().push(EffectiveQuery::Routes),
                Wanted::Rules(nic) => nics.entry(nic.clone()).or_default().push(EffectiveQuery::Rules),
                Wanted::Place(_)
                | Wanted::Frontends
                | Wanted::Bastions
                | Wanted::Clusters
                | Wanted::Health(_)
                | Wanted::Firewalls
                | Wanted::Gateways
                | Wanted::Outbound
                | Wanted::Names
                | Wanted::Answers(..)
                | Wanted::Page(..)
                | Wanted::Power(_)
                | Wanted::Availability(_)
                | Wanted::Events
                | Wanted::FlowLogs(_)
                | Wanted::State(_) => others.push(one),
            }
        }
        for queries in [
            &[EffectiveQuery::Routes, EffectiveQuery::Rules][..],
            &[EffectiveQuery::Routes],
            &[EffectiveQuery::Rules],
        ] {
            let names = nics.iter().filter(|(_, own)| {
                own.len() == queries.len() && queries.iter().all(|query| own.contains(query))
            });
            let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
            if !names.is_empty() {
                self.effective(&names, queries)?;
            }
        }
        others.into_iter().try_for_each(|one| self.fetch(one))
    }

    /// Lists what was changed in the resource group in the last hours.
    pub fn changes(&self, hours: u16) -> anyhow::Result<Result<String, Issue>> {
        let order =
            CommandRequest::line(line::activity(&self.group, hours), "find what was changed since then");
        self.live.drive(ReadOperation::new(order, "reading the activity log"))
    }

    fn fetch(&mut self, one: Wanted) -> anyhow::Result<()> {
        match &one {
            Wanted::Place(place) => self.open_place(place)?,
            Wanted::Health(gateway) => {
                let (place, own) = self.places.of_application_gateway(&self.bundle.cloud, gateway);
                if let Ok(name) = Name::parse(&own) {
                    let found = self.live.drive(HealthOperation::new(&place, &name))?;
                    HealthOperation::into_cloud(found, &mut self.bundle.cloud);
                }
            }
            Wanted::Frontends
            | Wanted::Bastions
            | Wanted::Clusters
            | Wanted::Firewalls
            | Wanted::Names
            | Wanted::Gateways
            | Wanted::Outbound => {
                for group in self.places.all() {
                    self.read_in(&one, &group)?;
                }
            }
            Wanted::Answers(machine, name) => {
                let reading = self.asked(machine, &RESOLVE, vec![("name", name.clone())])?;
                self.bundle.guests.entry(machine.clone()).or_default().answers = Some(reading);
            }
            Wanted::Page(machine, question) => {
                let mut reading = self.asked(machine, &PAGE, page_values(question))?;
                let guest = self.bundle.guests.entry(machine.clone()).or_default();
                if let (Some(Reading::Text(before)), Reading::Text(more)) = (&guest.pages, &reading) {
                    reading = Reading::Text(format!("{before}{more}"));
                }
                guest.pages = Some(reading);
            }
            Wanted::Power(machine) => {
                let (place, own) = self.places.of_machine(&self.bundle.cloud, machine);
                let read = match Name::parse(&own) {
                    Ok(name) => self.live.drive(power(&place, &name))?,
                    Err(error) => Err(Issue::new(error.to_string())),
                };
                keep_power(read, &mut self.bundle.cloud);
            }
            Wanted::Availability(machine) => {
                let (place, own) = self.places.of_machine(&self.bundle.cloud, machine);
                if let Ok(name) = Name::parse(&own) {
                    let found = self.live.drive(PlatformHealthOperation::machine(&place, &name))?;
                    found.into_cloud(&mut self.bundle.cloud);
                }
            }
            Wanted::Events => {
                let found = self.live.drive(PlatformHealthOperation::events(&self.group))?;
                found.into_cloud(&mut self.bundle.cloud);
            }
            Wanted::FlowLogs(query) => {
                let read = self.live.drive(FlowLogOperation::new(&self.group, query))?;
                FlowLogOperation::into_cloud(read, &mut self.bundle.cloud);
            }
            Wanted::Routes(nic) => self.effective(std::slice::from_ref(nic), &[EffectiveQuery::Routes])?,
            Wanted::Rules(nic) => self.effective(std::slice::from_ref(nic), &[EffectiveQuery::Rules])?,
            Wanted::State(machine) => {
                let (place, own) = self.places.of_machine(&self.bundle.cloud, machine);
                let read = match Name::parse(&own) {
                    Ok(machine) => {
                        let reach = GuestAccess::Platform { place, machine };
                        self.live.drive(GuestProbe::new(reach, &STATE))?
                    }
                    Err(error) => Err(Issue::new(error.to_string())),
                };
                let mut guest = read.unwrap_or_else(|issue| unread_guest(&self.failed(machine, issue)));
                if let Some(known) = self.bundle.guests.remove(machine) {
                    (guest.answers, guest.pages) = (known.answers, known.pages);
                }
                self.bundle.guests.insert(machine.clone(), guest);
            }
        }
        self.read.insert(one);
        Ok(())
    }

    /// Asks a machine something by a script of its own.
    fn asked(
        &mut self,
        machine: &str,
        wanted: &'static ProbeSpec<Reading>,
        asked: Vec<(&'static str, String)>,
    ) -> anyhow::Result<Reading> {
        let (place, own) = self.places.of_machine(&self.bundle.cloud, machine);
        let read = match Name::parse(&own) {
            Ok(machine) => {
                let reach = GuestAccess::Platform { place, machine };
                self.live.drive(GuestProbe::asking(reach, wanted, asked))?
            }
            Err(error) => Err(Issue::new(error.to_string())),
        };
        Ok(read.unwrap_or_else(|issue| Reading::Failed { error: self.failed(machine, issue) }))
    }

    /// Reads the lists of another resource group, and in it whatever was read of the first one.
    fn open_place(&mut self, place: &Place) -> anyhow::Result<()> {
        let read = match self.places.request(&self.bundle.cloud, place) {
            Ok(group) => self.live.drive(EstateOperation::new(&group))?.map(|cloud| (group, cloud)),
            Err(why) => Err(Issue::new(why)),
        };
        let opened = match &read {
            Ok((group, _)) => Some(group.clone()),
            Err(issue) => {
                let issue = issue.clone();
                self.failed(&place.to_string(), issue);
                None
            }
        };
        self.places.opened(place, read, &mut self.bundle.cloud);
        let Some(group) = opened else { return Ok(()) };
        let all = [
            Wanted::Frontends,
            Wanted::Bastions,
            Wanted::Clusters,
            Wanted::Firewalls,
            Wanted::Names,
            Wanted::Gateways,
            Wanted::Outbound,
        ];
        for one in all.iter().filter(|one| self.read.contains(*one)).cloned().collect::<Vec<_>>() {
            self.read_in(&one, &group)?;
        }
        Ok(())
    }

    /// Reads lists of one kind in a resource group, beside those of others.
    fn read_in(&mut self, one: &Wanted, group: &ResourceGroup) -> anyhow::Result<()> {
        let is_first = *group == self.group;
        let mut found = Cloud::default();
        match one {
            Wanted::Frontends => {
                FrontendOperation::into_cloud(self.live.drive(FrontendOperation::new(group))?, &mut found);
            }
            Wanted::Firewalls => {
                FirewallOperation::into_cloud(self.live.drive(FirewallOperation::new(group))?, &mut found);
            }
            Wanted::Names => {
                let operation =
                    if is_first { NamingOperation::new(group) } else { NamingOperation::beside(group) };
                NamingOperation::into_cloud(self.live.drive(operation)?, &mut found);
            }
            Wanted::Gateways => {
                GatewayOperation::into_cloud(self.live.drive(GatewayOperation::new(group))?, &mut found);
            }
            Wanted::Outbound => {
                // Load balancers of all groups are counted with the first.
                let none = Cloud::default();
                let known = if is_first { &self.bundle.cloud } else { &none };
                let read = self.live.drive(OutboundOperation::new(group, known))?;
                OutboundOperation::into_cloud(read, &mut found);
            }
            Wanted::Bastions => keep_bastions(self.live.drive(bastions(group))?, &mut found),
            Wanted::Clusters => keep_clusters(self.live.drive(clusters(group))?, &mut found),
            Wanted::Place(_)
            | Wanted::Health(_)
            | Wanted::Answers(..)
            | Wanted::Page(..)
            | Wanted::Power(_)
            | Wanted::Availability(_)
            | Wanted::Events
            | Wanted::FlowLogs(_)
            | Wanted::Routes(_)
            | Wanted::Rules(_)
            | Wanted::State(_) => {}
        }
        match is_first {
            true => self.bundle.cloud.replace(found),
            false => self.places.join(group, found, &mut self.bundle.cloud),
        }
        Ok(())
    }

    /// Reads what is in effect at some interfaces, those of one group together.
    fn effective(&mut self, nics: &[String], queries: &[EffectiveQuery]) -> anyhow::Result<()> {
        let mut groups: Vec<(ResourceGroup, Vec<(String, String)>)> = Vec::new();
        for nic in nics {
            let (place, own) = self.places.of_interface(&self.bundle.cloud, nic);
            match groups.iter_mut().find(|(group, _)| *group == place) {
                Some((_, all)) => all.push((nic.clone(), own)),
                None => groups.push((place, vec![(nic.clone(), own)])),
            }
        }
        groups.iter().try_for_each(|(group, nics)| self.effective_in(group, nics, queries))
    }

    /// Reads what is in effect at some interfaces of a group, each known by a name and called by its own.
    fn effective_in(
        &mut self,
        group: &ResourceGroup,
        nics: &[(String, String)],
        queries: &[EffectiveQuery],
    ) -> anyhow::Result<()> {
        let named = |nic: &str| Name::parse(nic).map_err(|error| Issue::new(error.to_string()));
        let names: Vec<Name> = nics.iter().filter_map(|(_, own)| named(own).ok()).collect();
        let scope = InterfaceScope::Interfaces(names);
        let found = self.live.drive(Effective::all(group, &scope, queries))?;
        for (nic, own) in nics {
            let own = named(own).and_then(|name| {
                let found = found.as_ref().map_err(Clone::clone)?;
                let own = found.iter().find(|one| one.interface.name == name);
                own.ok_or_else(|| Issue::new("it was not found"))
            });
            for query in queries {
                let read = own.clone().and_then(|one| one.text(*query).map(str::to_owned));
                let reading = match read {
                    Ok(text) => Reading::Text(text),
                    Err(issue) => Reading::Failed { error: self.failed(nic, issue) },
                };
                let entry = self.bundle.nics.entry(nic.clone()).or_default();
                match query {
                    EffectiveQuery::Routes => entry.routes = Some(reading),
                    EffectiveQuery::Rules => entry.rules = Some(reading),
                    EffectiveQuery::Itself => {}
                }
                self.read.extend(match query {
                    EffectiveQuery::Routes => Some(Wanted::Routes(nic.clone())),
                    EffectiveQuery::Rules => Some(Wanted::Rules(nic.clone())),
                    EffectiveQuery::Itself => None,
                });
            }
        }
        Ok(())
    }

    /// Counts a document that could not be read, and says so.
    fn failed(&mut self, what: &str, issue: Issue) -> String {
        self.unread += 1;
        note(&harmless(&format!("warning: {what} was not read: {}", issue.text)));
        issue.text
    }
}
