//! The stops, and what is known of each.

use serde_json::Value;

use crate::event::FindingAccepted;
use crate::finding::title;
use crate::report::path::ends::{Ends, Machine, ends};
use crate::state::State;
use crate::suspect::{Layer, Looked};

/// What is known of a part of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It is at fault.
    Fault,
    /// It was looked at and is clean.
    Clean,
    /// Nobody looked at it.
    Open,
}

/// A stop on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Its parts.
    pub lines: Vec<(Known, String)>,
}

/// Where a fault lies.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Machine(String),
    Group(String),
    Table(String),
    Subnet(String),
    Outside,
}

struct Drawing<'a> {
    looked: Vec<Looked>,
    /// Faults that no stop took yet.
    left: Vec<&'a FindingAccepted>,
}

/// Returns the stops from the caller to the called one; none where no machine is known.
#[must_use]
pub fn stops(state: &State) -> Vec<Stop> {
    let ends = ends(state);
    let faults = state.accepted.iter().filter(|found| found.finding.code != "no_drift");
    let mut drawing = Drawing { looked: looked(state), left: faults.collect() };
    let mut stops = drawing.way(&ends);
    if !stops.is_empty() && !drawing.left.is_empty() {
        let lines = drawing.left.iter().map(|found| (Known::Fault, told(found))).collect();
        stops.push(Stop { name: "Elsewhere".to_owned(), what: "not on this way".to_owned(), lines });
    }
    stops
}

impl Drawing<'_> {
    fn way(&mut self, ends: &Ends) -> Vec<Stop> {
        let mut stops = Vec::new();
        // What lies inward belongs to the called one, where one group guards both.
        let mut inner = Vec::new();
        if let Some(to) = &ends.to {
            inner.push(self.machine(to, "called machine"));
            inner.push(self.interface(to, "inbound"));
        }
        let shared = match (&ends.from, &ends.to) {
            (Some(from), Some(to)) => from.subnet == to.subnet && from.vnet == to.vnet,
            (Some(_) | None, _) => false,
        };
        stops.extend(ends.stranger.as_ref().filter(|_| !inner.is_empty()).map(|name| Stop {
            name: name.clone(),
            what: "calls from outside".to_owned(),
            lines: Vec::new(),
        }));
        if let Some(from) = &ends.from {
            stops.push(self.machine(from, "calling machine"));
            stops.push(self.interface(from, "outbound"));
            stops.push(self.subnet(from, ends.to.as_ref().filter(|_| shared)));
        }
        stops.extend(ends.peering.as_ref().map(|name| Stop {
            name: name.clone(),
            what: "between the networks".to_owned(),
            lines: Vec::new(),
        }));
        if let Some(to) = ends.to.as_ref().filter(|_| !shared) {
            stops.push(self.subnet(to, None));
        }
        inner.reverse();
        stops.append(&mut inner);
        if let (Some(outside), false) = (&ends.outside, stops.is_empty()) {
            let lines = self.take(&[Place::Outside]);
            stops.push(Stop { name: outside.clone(), what: "called, outside".to_owned(), lines });
        }
        stops
    }

    fn machine(&mut self, machine: &Machine, what: &str) -> Stop {
        let mut lines =
            self.take(&[Place::Machine(machine.name.clone()), Place::Machine(machine.address.clone())]);
        let has = |lines: &[(Known, String)], words: &[&str]| {
            lines.iter().any(|(_, text)| words.iter().any(|word| text.contains(word)))
        };
        let filter = ["packet filter", "fail2ban", "containers"];
        let shaping = ["way out", "delays", "rate of", "twice", "order"];
        if !has(&lines, &filter) {
            lines.push(self.known(Layer::Guest, &machine.name, "packet filter"));
        }
        if !has(&lines, &shaping) {
            lines.push(self.known(Layer::Shaping, &machine.name, "traffic shaping"));
        }
        Stop { name: machine.name.clone(), what: format!("{what}, {}", machine.address), lines }
    }

    fn interface(&mut self, machine: &Machine, way: &str) -> Stop {
        let mut lines = self.take(&[Place::Group(machine.nsg.clone())]);
        let group = if machine.nsg.is_empty() { "no group of its own" } else { &machine.nsg };
        if lines.is_empty() {
            lines.push(self.known(Layer::Rules, &machine.name, &format!("security rules, {way} ({group})")));
        }
        let name = if machine.nic.is_empty() { "interface".to_owned() } else { machine.nic.clone() };
        Stop { name, what: format!("network interface of {}", machine.name), lines }
    }

    /// Draws a subnet; where both ends are in it, once.
    fn subnet(&mut self, machine: &Machine, other: Option<&Machine>) -> Stop {
        let both: Vec<&Machine> = std::iter::once(machine).chain(other).collect();
        let mut lines = self.take(&[
            Place::Group(machine.subnet_nsg.clone()),
            Place::Table(machine.route_table.clone()),
            Place::Table("unknown".to_owned()),
            Place::Subnet(machine.subnet.clone()),
        ]);
        let faulty =
            |lines: &[(Known, String)], word: &str| lines.iter().any(|(_, text)| text.starts_with(word));
        if !faulty(&lines, "Security rule") && !machine.subnet_nsg.is_empty() {
            let text = format!("security rules ({})", machine.subnet_nsg);
            lines.push(self.known_of(Layer::Rules, &both, &text));
        }
        if !faulty(&lines, "Route") {
            let table =
                if machine.route_table.is_empty() { "the platform's own" } else { &machine.route_table };
            lines.push(self.known_of(Layer::Routes, &both, &format!("routes ({table})")));
        }
        Stop { name: machine.subnet.clone(), what: format!("subnet of {}", machine.vnet), lines }
    }

    fn known(&self, layer: Layer, subject: &str, text: &str) -> (Known, String) {
        let seen = |looked: &Looked| looked.layer == layer && looked.subject.eq_ignore_ascii_case(subject);
        if self.looked.iter().any(seen) {
            (Known::Clean, text.to_owned())
        } else {
            (Known::Open, format!("{text}: not looked at"))
        }
    }

    fn known_of(&self, layer: Layer, machines: &[&Machine], text: &str) -> (Known, String) {
        let all = machines.iter().map(|machine| self.known(layer, &machine.name, text));
        all.max_by_key(|(known, _)| *known == Known::Open).unwrap_or((Known::Open, text.to_owned()))
    }

    /// Takes the faults that lie at one of some places.
    fn take(&mut self, places: &[Place]) -> Vec<(Known, String)> {
        let here = |found: &FindingAccepted| {
            let named = |place: &Place| match place {
                Place::Machine(name) | Place::Group(name) | Place::Table(name) | Place::Subnet(name) => {
                    !name.is_empty()
                }
                Place::Outside => true,
            };
            let own = place(found);
            places.iter().any(|place| named(place) && same(place, &own))
        };
        let (taken, left) = std::mem::take(&mut self.left).into_iter().partition(|found| here(found));
        self.left = left;
        let taken: Vec<&FindingAccepted> = taken;
        taken.into_iter().map(|found| (Known::Fault, told(found))).collect()
    }
}

fn same(one: &Place, other: &Place) -> bool {
    match (one, other) {
        (Place::Machine(one), Place::Machine(other))
        | (Place::Group(one), Place::Group(other))
        | (Place::Table(one), Place::Table(other))
        | (Place::Subnet(one), Place::Subnet(other)) => one.eq_ignore_ascii_case(other),
        (Place::Outside, Place::Outside) => true,
        (Place::Machine(_) | Place::Group(_) | Place::Table(_) | Place::Subnet(_) | Place::Outside, _) => {
            false
        }
    }
}

fn told(found: &FindingAccepted) -> String {
    title(&found.finding.code, &found.finding.object)
}

/// Says where a fault lies, by the name of what is at fault.
fn place(found: &FindingAccepted) -> Place {
    let parts: Vec<&str> = found.finding.object.split('/').collect();
    let at = |index: usize| parts.get(index).copied().unwrap_or_default().to_owned();
    match parts.first().copied() {
        Some("nsg") => Place::Group(at(1)),
        Some("route") => Place::Table(at(1)),
        Some("subnet") => Place::Subnet(at(2)),
        Some("netfilter" | "qdisc" | "host") => Place::Machine(at(1)),
        // What the wire shows of a flow lies at the one that was called.
        Some("flow") => Place::Machine(at(2)),
        Some(_) | None => Place::Outside,
    }
}

/// Returns which layers of whom were looked at, whole, as the tools said.
fn looked(state: &State) -> Vec<Looked> {
    let returned =
        state.calls().filter_map(|call| call.returned.as_ref()).filter(|returned| !returned.is_error);
    let told = returned.filter_map(|returned| serde_json::from_str::<Value>(&returned.content).ok());
    told.filter_map(|content| serde_json::from_value::<Vec<Looked>>(content.get("looked")?.clone()).ok())
        .flatten()
        .collect()
}
