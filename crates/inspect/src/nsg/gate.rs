//! One gate: which of its rules decides, over everything that is not known.

use super::cases::{Cases, Clauses, GateAnswer, Item};
use super::packet::Packet;
use super::rule::{Access, Gate, Group, Protocols, Rule};
use crate::net::Ranges;

/// The part of a packet in which a rule misses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Inbound or outbound.
    Direction,
    /// The protocols of the rule.
    Protocol,
    /// Where it comes from.
    Source,
    /// Where it goes.
    Destination,
    /// The port that it comes from.
    SourcePort,
    /// The port that it goes to.
    DestinationPort,
}

impl Field {
    /// Returns the field as words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direction => "direction",
            Self::Protocol => "protocol",
            Self::Source => "source",
            Self::Destination => "destination",
            Self::SourcePort => "source port",
            Self::DestinationPort => "destination port",
        }
    }

    /// Says that a rule misses in this field.
    pub(super) const fn missed(self) -> &'static str {
        match self {
            Self::Direction => "misses: direction",
            Self::Protocol => "misses: protocol",
            Self::Source => "misses: source",
            Self::Destination => "misses: destination",
            Self::SourcePort => "misses: source port",
            Self::DestinationPort => "misses: destination port",
        }
    }
}

/// Tells in which field a rule misses a packet, or what must hold for it to match.
///
/// The source port is left out where it is not known: `decide` follows all of them at once.
pub(super) fn fit(rule: &Rule, packet: &Packet, protocol: Protocols) -> Result<Clauses, Field> {
    let mut clauses = Clauses::new();
    let mut open = |what: &str| clauses.push(vec![Item::Own(format!("{what} of the rule {}", rule.name))]);
    match rule.direction {
        Some(direction) if direction != packet.direction => return Err(Field::Direction),
        Some(_) => {}
        None => open("the direction"),
    }
    match rule.protocols {
        Some(protocols) if protocols.and(protocol).is_empty() => return Err(Field::Protocol),
        Some(_) => {}
        None => open("the protocol"),
    }
    if !protocol.and(Protocols::WITH_PORTS).is_empty() {
        if !rule.destination_ports.known.contains(u128::from(packet.destination_port)) {
            if rule.destination_ports.open.is_none() {
                return Err(Field::DestinationPort);
            }
            open("the destination ports");
        }
        let is_known = match packet.source_port {
            Some(port) => rule.source_ports.known.contains(u128::from(port)),
            // Where all of them were read, `source_ports` says for which of them it matches.
            None => rule.source_ports.open.is_none() || is_any_port(&rule.source_ports.known),
        };
        if !is_known {
            if rule.source_ports.open.is_none() {
                return Err(Field::SourcePort);
            }
            open("the source ports");
        }
    }
    if rule.priority.is_none() {
        open("the priority");
    }
    for (peers, address, field, side) in [
        (&rule.source, packet.source, Field::Source, "source"),
        (&rule.destination, packet.destination, Field::Destination, "destination"),
    ] {
        let platform = packet.platform().filter(|_| field == Field::Destination);
        let names = match platform {
            Some(platform) => peers.undecided_of(platform),
            None => peers.undecided(address),
        };
        let names = names.ok_or(field)?;
        if !names.is_empty() {
            clauses.push(names.into_iter().map(|name| Item::Shared(format!("{side} {name}"))).collect());
        }
    }
    Ok(clauses)
}

/// Says what a group may answer to a packet of one protocol.
pub(super) fn decide(group: &Group, packet: &Packet, protocol: Protocols) -> GateAnswer {
    let rule_index = group.rule_index(packet.direction);
    if group.is_unread(packet.direction) {
        return unread(group);
    }
    let mut gate = Tries { cases: Cases::default(), equals: Vec::new(), last: None };
    for at in rule_index.candidates(packet, protocol, 0) {
        let Some(rule) = group.rules.get(at) else { continue };
        // Once a rule certainly matches, only those that may stand before it are of interest.
        if !gate.is_equal(rule) && gate.settle() {
            break;
        }
        let Ok(clauses) = fit(rule, packet, protocol) else { continue };
        let found = Try { at, rule, clauses, ports: source_ports(rule, packet, protocol) };
        if group.has_rivals(at) {
            gate.equals.push(found);
        } else if gate.add(found) {
            break;
        }
    }
    gate.settle();
    let free = group.gate == Gate::Manager || packet.platform().is_some();
    let end = if free { Access::Allow } else { Access::Deny };
    let mut answer = GateAnswer { last: gate.last, ..gate.cases.answer(end) };
    let unsure = answer.by.values().flatten().flatten().filter_map(|at| group.rules.get(*at));
    if group.gate == Gate::Manager && unsure.into_iter().any(|rule| rule.access.is_none()) {
        answer.by.entry(Access::AlwaysAllow).or_default().insert(None);
    }
    answer
}

/// Returns what a group may answer of which no rule was read.
fn unread(group: &Group) -> GateAnswer {
    let mut answer = GateAnswer::default();
    answer.add(None, None);
    if group.gate == Gate::Manager {
        answer.add(Some(Access::AlwaysAllow), None);
    }
    answer.open.insert(format!("the rules of {}", group.name.as_deref().unwrap_or("a group without a name")));
    answer
}

/// A rule that may match.
struct Try<'a> {
    at: usize,
    rule: &'a Rule,
    clauses: Clauses,
    ports: Option<Ranges>,
}

/// The rules of a group that may match, as they are tried.
struct Tries<'a> {
    cases: Cases,
    /// Rules of one priority, of which nothing says which one is tried first.
    equals: Vec<Try<'a>>,
    /// The first rule that certainly matches.
    last: Option<usize>,
}

impl<'a> Tries<'a> {
    fn is_equal(&self, rule: &Rule) -> bool {
        self.equals.last().is_none_or(|last| last.rule.priority == rule.priority)
    }

    /// Adds a rule, and tells whether it certainly matches.
    fn add(&mut self, found: Try<'a>) -> bool {
        let certain = self.cases.add(found.at, found.rule.access, found.clauses, found.ports);
        if certain {
            self.last = Some(found.at);
        }
        certain
    }

    /// Adds the rules of one priority, and tells whether one of them certainly matches.
    ///
    /// Any of them may be the first: each is tried under that assumption, and then once more without it.
    fn settle(&mut self) -> bool {
        let equals = std::mem::take(&mut self.equals);
        let differ = equals.first().is_some_and(|first| {
            first.rule.access.is_none() || equals.iter().any(|other| other.rule.access != first.rule.access)
        });
        for found in equals.iter().filter(|_| differ && equals.len() > 1) {
            let priority = found.rule.priority.unwrap_or_default();
            let mut clauses = found.clauses.clone();
            clauses.push(vec![Item::Own(format!("the order of the rules of priority {priority}"))]);
            self.cases.add(found.at, found.rule.access, clauses, found.ports.clone());
        }
        let last = equals.iter().map(|found| found.at).max();
        let mut certain = false;
        for found in equals {
            certain = certain || self.add(found);
        }
        if certain {
            self.last = last;
        }
        certain
    }
}

/// Tells whether a rule certainly matches whatever of the packet is asked about.
pub(super) fn certainly(rule: &Rule, packet: &Packet) -> bool {
    packet.protocols.iter().all(|protocol| {
        fit(rule, packet, *protocol).is_ok_and(|clauses| clauses.is_empty())
            && source_ports(rule, packet, *protocol).is_none()
    })
}

/// Returns the source ports of a rule where they matter, were all read, and the packet's is not known.
pub(super) fn source_ports(rule: &Rule, packet: &Packet, protocol: Protocols) -> Option<Ranges> {
    let matters = packet.source_port.is_none() && !protocol.and(Protocols::WITH_PORTS).is_empty();
    let ports = &rule.source_ports;
    (matters && ports.open.is_none() && !is_any_port(&ports.known)).then(|| ports.known.clone())
}

fn is_any_port(ports: &Ranges) -> bool {
    ports.covers(0, u128::from(u16::MAX))
}
