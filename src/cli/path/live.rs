//! Reads an estate from the cloud and from inside its machines: everything by commands that only read.

use std::collections::BTreeSet;

use super::place;
use crate::cli::live::{Live, or_fail};
use crate::cli::print::{harmless, note};
use ghost_cloud::guest::GuestAccess;
use ghost_cloud::operation::{CommandRequest, Issue, ReadOperation};
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceScope};
use ghost_cloud::probe::{
    EstateOperation, FrontendOperation, GuestProbe, NamingOperation, RESOLVE, STATE, Wanted, unread_guest,
    wanted,
};
use ghost_cloud::{Name, ResourceGroup, line};
use ghost_inspect::path::{Bundle, Estate, Flow, Protocol, Reading};

/// More rounds are not needed: each goes at least one machine further along a path.
const MAX_ROUNDS: usize = 16;

/// A bundle that grows as it is needed.
pub(in crate::cli) struct LiveEstate {
    live: Live,
    group: ResourceGroup,
    bundle: Bundle,
    read: BTreeSet<Wanted>,
    /// How many documents could not be read.
    unread: usize,
}

impl LiveEstate {
    /// Reads the lists of a resource group.
    pub(in crate::cli) fn open(live: Live, group: ResourceGroup) -> anyhow::Result<Self> {
        let cloud = or_fail(live.drive(EstateOperation::new(&group))?)?;
        let bundle = Bundle { format: 1, cloud, ..Bundle::default() };
        Ok(Self { live, group, bundle, read: BTreeSet::new(), unread: 0 })
    }

    /// Returns what was read.
    pub(in crate::cli) fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns it, ready to judge flows.
    pub(super) fn estate(&self) -> Estate {
        Estate::of(&self.bundle)
    }

    /// Returns how many documents could not be read.
    pub(super) fn unread(&self) -> usize {
        self.unread
    }

    /// Reads what decides over some flows, until nothing is missing that can be read.
    pub(super) fn read_for(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        for _ in 0..MAX_ROUNDS {
            let mut wanted = wanted(&self.estate(), flows);
            wanted.retain(|one| !self.read.contains(one));
            if wanted.is_empty() {
                break;
            }
            for one in wanted {
                self.fetch(one)?;
            }
        }
        Ok(())
    }

    /// Returns the flow between two ends. One that is none of the machines may be a load balancer.
    pub(super) fn flow(&mut self, from: &str, to: &str, protocol: Protocol) -> anyhow::Result<Flow> {
        let found = place::flow(&self.estate(), from, to, protocol);
        if found.is_ok() || self.read.contains(&Wanted::Frontends) {
            return found;
        }
        self.fetch(Wanted::Frontends)?;
        let found = place::flow(&self.estate(), from, to, protocol);
        // A name with points in it may be one of a service, or of a private zone.
        if found.is_ok() || !to.contains('.') {
            return found;
        }
        self.fetch(Wanted::Names)?;
        place::flow(&self.estate(), from, to, protocol)
    }

    /// Reads everything of every machine.
    pub(in crate::cli) fn read_all(&mut self) -> anyhow::Result<()> {
        self.fetch(Wanted::Frontends)?;
        self.fetch(Wanted::Names)?;
        let estate = self.estate();
        for machine in estate.machines() {
            for nic in estate.nics_of(machine) {
                self.fetch(Wanted::Routes(nic.clone()))?;
                self.fetch(Wanted::Rules(nic))?;
            }
            self.fetch(Wanted::State(machine.to_owned()))?;
        }
        Ok(())
    }

    /// Lists what was changed in the resource group in the last hours.
    pub(super) fn changes(&self, hours: u16) -> anyhow::Result<Result<String, Issue>> {
        let order =
            CommandRequest::line(line::activity(&self.group, hours), "find what was changed since then");
        self.live.drive(ReadOperation::new(order, "reading the activity log"))
    }

    fn fetch(&mut self, one: Wanted) -> anyhow::Result<()> {
        match &one {
            Wanted::Frontends => {
                let found = self.live.drive(FrontendOperation::new(&self.group))?;
                FrontendOperation::into_cloud(found, &mut self.bundle.cloud);
            }
            Wanted::Names => {
                let found = self.live.drive(NamingOperation::new(&self.group))?;
                NamingOperation::into_cloud(found, &mut self.bundle.cloud);
            }
            Wanted::Answers(machine, name) => {
                let read = match Name::parse(machine) {
                    Ok(own) => {
                        let reach = GuestAccess::Platform { place: self.group.clone(), machine: own };
                        let asked = vec![("name", name.clone())];
                        self.live.drive(GuestProbe::asking(reach, &RESOLVE, asked))?
                    }
                    Err(error) => Err(Issue::new(error.to_string())),
                };
                let reading =
                    read.unwrap_or_else(|issue| Reading::Failed { error: self.failed(machine, issue) });
                self.bundle.guests.entry(machine.clone()).or_default().answers = Some(reading);
            }
            Wanted::Routes(nic) => {
                let reading = self.effective(nic, EffectiveQuery::Routes)?;
                self.bundle.nics.entry(nic.clone()).or_default().routes = Some(reading);
            }
            Wanted::Rules(nic) => {
                let reading = self.effective(nic, EffectiveQuery::Rules)?;
                self.bundle.nics.entry(nic.clone()).or_default().rules = Some(reading);
            }
            Wanted::State(machine) => {
                let read = match Name::parse(machine) {
                    Ok(name) => {
                        let reach = GuestAccess::Platform { place: self.group.clone(), machine: name };
                        self.live.drive(GuestProbe::new(reach, &STATE))?
                    }
                    Err(error) => Err(Issue::new(error.to_string())),
                };
                let mut guest = read.unwrap_or_else(|issue| unread_guest(&self.failed(machine, issue)));
                guest.answers = self.bundle.guests.get(machine).and_then(|known| known.answers.clone());
                self.bundle.guests.insert(machine.clone(), guest);
            }
        }
        self.read.insert(one);
        Ok(())
    }

    fn effective(&mut self, nic: &str, query: EffectiveQuery) -> anyhow::Result<Reading> {
        let read = match Name::parse(nic) {
            Ok(name) => {
                let scope = InterfaceScope::Interface(name);
                let found = self.live.drive(Effective::all(&self.group, &scope, &[query]))?;
                found.and_then(|found| {
                    let one = found.first().ok_or_else(|| Issue::new("it was not found"))?;
                    one.text(query).map(str::to_owned)
                })
            }
            Err(error) => Err(Issue::new(error.to_string())),
        };
        Ok(match read {
            Ok(text) => Reading::Text(text),
            Err(issue) => Reading::Failed { error: self.failed(nic, issue) },
        })
    }

    /// Counts a document that could not be read, and says so.
    fn failed(&mut self, what: &str, issue: Issue) -> String {
        self.unread += 1;
        note(&harmless(&format!("warning: {what} was not read: {}", issue.text)));
        issue.text
    }
}
