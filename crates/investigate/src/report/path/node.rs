//! The nodes of a path, what is known of each, and the picture of them.

use serde::Deserialize;

use crate::event::FindingAccepted;
use crate::finding::{Fault, title};
use crate::report::path::endpoints::{Endpoints, Machine, endpoints};
use crate::state::State;
use crate::suspect::{Layer, Looked};

/// What is known of a part of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    Fault,
    /// It was inspected and is clean.
    Clean,
    /// Nobody inspected it.
    Open,
}

/// A machine with its interface, a subnet or a boundary on the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathNode {
    pub name: String,
    pub what: String,
    pub lines: Vec<(NodeState, String)>,
}

/// Where a fault lies.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FaultLocation {
    Machine(String),
    Group(String),
    Table(String),
    Subnet(String),
    Outside,
}

/// The part of a tool's result that names what it inspected.
#[derive(Deserialize)]
struct Inspected {
    looked: Vec<Looked>,
}

struct PathBuilder<'a> {
    looked: Vec<Looked>,
    /// Faults that no node took yet.
    left: Vec<&'a FindingAccepted>,
}

/// Returns the nodes from the caller to the called one; none where no machine is known.
#[must_use]
pub fn nodes(state: &State) -> Vec<PathNode> {
    let endpoints = endpoints(state);
    let faults = state.accepted.iter().filter(|found| found.finding.code != Fault::NoDrift);
    let mut builder = PathBuilder { looked: looked(state), left: faults.collect() };
    let mut nodes = builder.path(&endpoints);
    if !nodes.is_empty() && !builder.left.is_empty() {
        let lines = builder.left.iter().map(|found| (NodeState::Fault, fault_title(found))).collect();
        nodes.push(PathNode { name: "Elsewhere".to_owned(), what: "not on this path".to_owned(), lines });
    }
    nodes
}

impl PathBuilder<'_> {
    fn path(&mut self, endpoints: &Endpoints) -> Vec<PathNode> {
        let mut nodes = Vec::new();
        // What lies inward belongs to the called one, where one group guards both.
        let mut inner = Vec::new();
        if let Some(to) = &endpoints.to {
            let mut called = self.machine(to, "called machine");
            // A packet meets the interface first.
            let within = std::mem::take(&mut called.lines);
            called.lines = self.interface(to, "inbound");
            called.lines.extend(within);
            inner.push(called);
        }
        let shared = match (&endpoints.from, &endpoints.to) {
            (Some(from), Some(to)) => from.subnet == to.subnet && from.vnet == to.vnet,
            (Some(_) | None, _) => false,
        };
        nodes.extend(endpoints.stranger.as_ref().filter(|_| !inner.is_empty()).map(|name| PathNode {
            name: name.clone(),
            what: "calls from outside".to_owned(),
            lines: Vec::new(),
        }));
        if let Some(from) = &endpoints.from {
            let mut calling = self.machine(from, "calling machine");
            calling.lines.extend(self.interface(from, "outbound"));
            nodes.push(calling);
            nodes.push(self.subnet(from, endpoints.to.as_ref().filter(|_| shared)));
        }
        nodes.extend(endpoints.peering.as_ref().map(|name| PathNode {
            name: name.clone(),
            what: "between the networks".to_owned(),
            lines: Vec::new(),
        }));
        if let Some(to) = endpoints.to.as_ref().filter(|_| !shared) {
            nodes.push(self.subnet(to, None));
        }
        nodes.append(&mut inner);
        if let (Some(outside), false) = (&endpoints.outside, nodes.is_empty()) {
            let lines = self.take(&[FaultLocation::Outside]);
            nodes.push(PathNode { name: outside.clone(), what: "called, outside".to_owned(), lines });
        }
        nodes
    }

    fn machine(&mut self, machine: &Machine, what: &str) -> PathNode {
        let mut lines = self.take(&[
            FaultLocation::Machine(machine.name.clone()),
            FaultLocation::Machine(machine.address.clone()),
        ]);
        let has = |lines: &[(NodeState, String)], words: &[&str]| {
            lines.iter().any(|(_, text)| words.iter().any(|word| text.contains(word)))
        };
        let filter = ["packet filter", "fail2ban", "containers"];
        let shaping = ["that it sends by", "delays", "rate of", "twice", "order"];
        if !has(&lines, &filter) {
            lines.push(self.known(Layer::Guest, &machine.name, "packet filter"));
        }
        if !has(&lines, &shaping) {
            lines.push(self.known(Layer::Shaping, &machine.name, "traffic shaping"));
        }
        let nic = if machine.nic.is_empty() { String::new() } else { format!(", {}", machine.nic) };
        PathNode { name: machine.name.clone(), what: format!("{what}, {}{nic}", machine.address), lines }
    }

    fn interface(&mut self, machine: &Machine, path: &str) -> Vec<(NodeState, String)> {
        let mut lines = self.take(&[FaultLocation::Group(machine.nsg.clone())]);
        let group = if machine.nsg.is_empty() { "no group of its own" } else { &machine.nsg };
        if lines.is_empty() {
            lines.push(self.known(Layer::Rules, &machine.name, &format!("security rules, {path} ({group})")));
        }
        lines
    }

    /// Draws a subnet; where both endpoints are in it, once.
    fn subnet(&mut self, machine: &Machine, other: Option<&Machine>) -> PathNode {
        let both: Vec<&Machine> = std::iter::once(machine).chain(other).collect();
        let mut lines = self.take(&[
            FaultLocation::Group(machine.subnet_nsg.clone()),
            FaultLocation::Table(machine.route_table.clone()),
            FaultLocation::Table("unknown".to_owned()),
            FaultLocation::Subnet(machine.subnet.clone()),
        ]);
        let faulty =
            |lines: &[(NodeState, String)], word: &str| lines.iter().any(|(_, text)| text.starts_with(word));
        if !faulty(&lines, "Security rule") && !machine.subnet_nsg.is_empty() {
            let text = format!("security rules ({})", machine.subnet_nsg);
            lines.push(self.known_of(Layer::Rules, &both, &text));
        }
        if !faulty(&lines, "Route") {
            let table =
                if machine.route_table.is_empty() { "the platform's own" } else { &machine.route_table };
            lines.push(self.known_of(Layer::Routes, &both, &format!("routes ({table})")));
        }
        PathNode { name: machine.subnet.clone(), what: format!("subnet of {}", machine.vnet), lines }
    }

    fn known(&self, layer: Layer, subject: &str, text: &str) -> (NodeState, String) {
        let seen = |looked: &Looked| looked.layer == layer && looked.subject.eq_ignore_ascii_case(subject);
        if self.looked.iter().any(seen) {
            (NodeState::Clean, text.to_owned())
        } else {
            (NodeState::Open, format!("{text}: not looked at"))
        }
    }

    fn known_of(&self, layer: Layer, machines: &[&Machine], text: &str) -> (NodeState, String) {
        let all = machines.iter().map(|machine| self.known(layer, &machine.name, text));
        all.max_by_key(|(known, _)| *known == NodeState::Open).unwrap_or((NodeState::Open, text.to_owned()))
    }

    /// Takes the faults that lie at one of some places.
    fn take(&mut self, places: &[FaultLocation]) -> Vec<(NodeState, String)> {
        let here = |found: &FindingAccepted| {
            let named = |place: &FaultLocation| match place {
                FaultLocation::Machine(name)
                | FaultLocation::Group(name)
                | FaultLocation::Table(name)
                | FaultLocation::Subnet(name) => !name.is_empty(),
                FaultLocation::Outside => true,
            };
            let own = place(found);
            places.iter().any(|place| named(place) && same(place, &own))
        };
        let (taken, left) = std::mem::take(&mut self.left).into_iter().partition(|found| here(found));
        self.left = left;
        let taken: Vec<&FindingAccepted> = taken;
        taken.into_iter().map(|found| (NodeState::Fault, fault_title(found))).collect()
    }
}

fn same(one: &FaultLocation, other: &FaultLocation) -> bool {
    match (one, other) {
        (FaultLocation::Machine(one), FaultLocation::Machine(other))
        | (FaultLocation::Group(one), FaultLocation::Group(other))
        | (FaultLocation::Table(one), FaultLocation::Table(other))
        | (FaultLocation::Subnet(one), FaultLocation::Subnet(other)) => one.eq_ignore_ascii_case(other),
        (FaultLocation::Outside, FaultLocation::Outside) => true,
        (
            FaultLocation::Machine(_)
            | FaultLocation::Group(_)
            | FaultLocation::Table(_)
            | FaultLocation::Subnet(_)
            | FaultLocation::Outside,
            _,
        ) => false,
    }
}

fn fault_title(found: &FindingAccepted) -> String {
    title(&found.finding.code, &found.finding.object)
}

/// Says where a fault lies, by the name of what is at fault.
fn place(found: &FindingAccepted) -> FaultLocation {
    let parts: Vec<&str> = found.finding.object.split('/').collect();
    let at = |index: usize| parts.get(index).copied().unwrap_or_default().to_owned();
    match parts.first().copied() {
        Some("nsg") => FaultLocation::Group(at(1)),
        Some("route") => FaultLocation::Table(at(1)),
        Some("subnet") => FaultLocation::Subnet(at(2)),
        Some("netfilter" | "qdisc" | "host") => FaultLocation::Machine(at(1)),
        // What the wire shows of a flow lies at the one that was called.
        Some("flow") => FaultLocation::Machine(at(2)),
        Some(_) | None => FaultLocation::Outside,
    }
}

/// Returns which layers of which subjects the tools inspected completely.
fn looked(state: &State) -> Vec<Looked> {
    let returned =
        state.calls().filter_map(|call| call.returned.as_ref()).filter(|returned| !returned.is_error);
    let results = returned.filter_map(|returned| serde_json::from_str::<Inspected>(&returned.content).ok());
    results.flat_map(|result| result.looked).collect()
}

/// Slack takes so much of a picture's description.
const MAX_DESCRIPTION_CHARS: usize = 900;

/// Draws the path as a PNG file; nothing where the machines are not known, or where pictures are not built in.
#[must_use]
pub fn picture(state: &State) -> Option<Vec<u8>> {
    let nodes = nodes(state);
    if nodes.is_empty() { None } else { drawn(state, &nodes) }
}

/// Says what the picture shows, for whoever cannot see it.
#[must_use]
pub fn description(state: &State) -> String {
    let nodes = nodes(state);
    let node = |node: &PathNode| {
        let faults = node.lines.iter().filter(|(known, _)| *known == NodeState::Fault);
        let faults: Vec<&str> = faults.map(|(_, text)| text.as_str()).collect();
        if faults.is_empty() {
            node.name.clone()
        } else {
            format!("{} (at fault: {})", node.name, faults.join("; "))
        }
    };
    let text = format!("The path: {}", nodes.iter().map(node).collect::<Vec<_>>().join(", then "));
    text.chars().take(MAX_DESCRIPTION_CHARS).collect()
}

#[cfg(feature = "plot")]
fn drawn(state: &State, nodes: &[PathNode]) -> Option<Vec<u8>> {
    use crate::report::amount::moment;
    use ghost_plot::{Hop, HopStatus, hop_diagram};
    let tone = |known: NodeState| match known {
        NodeState::Fault => HopStatus::Bad,
        NodeState::Clean => HopStatus::Good,
        NodeState::Open => HopStatus::Open,
    };
    let hops: Vec<Hop> = nodes
        .iter()
        .map(|node| Hop {
            name: node.name.clone(),
            what: node.what.clone(),
            lines: node.lines.iter().map(|(known, text)| (tone(*known), text.clone())).collect(),
        })
        .collect();
    let below = format!("as of {} UTC", moment(state.last_at));
    hop_diagram(&crate::report::headline(state), &below, &hops).ok()
}

#[cfg(not(feature = "plot"))]
fn drawn(_state: &State, _stops: &[PathNode]) -> Option<Vec<u8>> {
    None
}
