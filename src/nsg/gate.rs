//! One gate: which of its rules decides, over everything that is not known.

use std::collections::{BTreeMap, BTreeSet};

use super::packet::Packet;
use super::rule::{Access, Gate, Group, Protocols, Rule};
use crate::net::Ranges;

/// So many cases are told apart before the answer is "not decided".
const MOST_CASES: usize = 4096;

/// The part of a packet in which a rule misses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Direction,
    Protocol,
    Source,
    Destination,
    SourcePort,
    DestinationPort,
}

/// What may be needed for a rule to match: of every clause at least one item must hold.
pub(super) type Clauses = Vec<Vec<String>>;

/// What a gate may say, and which rules may be the ones that say it.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// The possible results; nothing stands for "no rule matched".
    pub(super) by: BTreeMap<Access, BTreeSet<Option<usize>>>,
    /// The items on which it depends.
    pub(super) open: BTreeSet<String>,
}

impl Answer {
    fn add(&mut self, access: Option<Access>, rule: Option<usize>) {
        let both = [Access::Allow, Access::Deny];
        for access in access.as_ref().map_or(both.as_slice(), std::slice::from_ref) {
            self.by.entry(*access).or_default().insert(rule);
        }
    }

    /// Returns the only possible result.
    pub(super) fn certain(&self) -> Option<Access> {
        let mut results = self.by.keys();
        results.next().filter(|_| results.next().is_none()).copied()
    }

    /// Returns the rule that decides, where there is one.
    pub(super) fn rule(&self) -> Option<usize> {
        let mut rules = self.by.get(&self.certain()?)?.iter();
        rules.next().filter(|_| rules.next().is_none()).copied().flatten()
    }
}

/// Tells in which field a rule misses a packet, or what must hold for it to match.
///
/// The source port is left out where it is not known: `decide` follows all of them at once.
pub(super) fn fit(rule: &Rule, packet: &Packet, protocol: Protocols) -> Result<Clauses, Field> {
    let mut clauses = Clauses::new();
    let mut open = |what: &str| clauses.push(vec![format!("{what} of the rule {}", rule.name)]);
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
        if packet.source_port.is_some_and(|port| !rule.source_ports.known.contains(u128::from(port))) {
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
        let names = peers.undecided(address).ok_or(field)?;
        if !names.is_empty() {
            clauses.push(names.into_iter().map(|name| format!("{side} {name}")).collect());
        }
    }
    Ok(clauses)
}

/// Says what a group may answer to a packet of one protocol.
pub(super) fn decide(group: &Group, packet: &Packet, protocol: Protocols) -> Answer {
    let mut live = Vec::new();
    let mut heard = group.gate == Gate::Manager;
    for (at, rule) in group.rules.iter().enumerate() {
        heard |= rule.may_apply(packet.direction);
        let Ok(clauses) = fit(rule, packet, protocol) else { continue };
        let ports = source_ports(rule, packet, protocol);
        let last = clauses.is_empty() && ports.is_none();
        live.push(Live { at, access: rule.access, clauses, ports });
        if last {
            break;
        }
    }
    let mut answer = Answer::default();
    if !heard {
        answer.add(None, None);
        answer
            .open
            .insert(format!("the rules of {}", group.name.as_deref().unwrap_or("a group without a name")));
        return answer;
    }
    let end = if group.gate == Gate::Manager { Access::Allow } else { Access::Deny };
    let mut walk = Walk { live: &live, end, answer, assumed: Vec::new(), cases: 0 };
    let agree = live
        .iter()
        .map(|live| live.access)
        .chain(live.last().is_none_or(Live::may_miss).then_some(Some(end)));
    let mut agree = agree.collect::<Vec<_>>();
    agree.dedup();
    if let ([Some(_)], [_, _, ..]) = (agree.as_slice(), live.as_slice()) {
        // Whichever of them matches, the answer is the same.
        live.iter().for_each(|live| walk.answer.add(live.access, Some(live.at)));
        return walk.answer;
    }
    walk.from(0, &Ranges::one(0, u128::from(u16::MAX)));
    let mut answer = walk.answer;
    if answer.certain().is_some() {
        answer.open.clear();
    }
    answer
}

/// Returns the source ports of a rule where they matter and the packet's is not known.
fn source_ports(rule: &Rule, packet: &Packet, protocol: Protocols) -> Option<Ranges> {
    let matters = packet.source_port.is_none() && !protocol.and(Protocols::WITH_PORTS).is_empty();
    let all = rule.source_ports.known.covers(0, u128::from(u16::MAX));
    (matters && !all).then(|| rule.source_ports.known.clone())
}

/// A rule that may match.
struct Live {
    at: usize,
    access: Option<Access>,
    clauses: Clauses,
    ports: Option<Ranges>,
}

impl Live {
    fn may_miss(&self) -> bool {
        !self.clauses.is_empty() || self.ports.is_some()
    }
}

/// Follows every case that the unknown items leave open.
struct Walk<'a> {
    live: &'a [Live],
    end: Access,
    answer: Answer,
    assumed: Vec<(&'a str, bool)>,
    cases: usize,
}

impl<'a> Walk<'a> {
    fn from(&mut self, start: usize, ports: &Ranges) {
        let mut ports = ports.clone();
        let live = self.live;
        for (at, rule) in live.iter().enumerate().skip(start) {
            let hit = rule.ports.as_ref().map_or_else(|| ports.clone(), |own| ports.intersection(own));
            if hit.is_empty() {
                continue;
            }
            match self.holds(&rule.clauses) {
                Ok(false) => continue,
                Ok(true) => {}
                Err(item) => return self.branch(at, &ports, item),
            }
            self.answer.add(rule.access, Some(rule.at));
            ports = ports.difference(&hit);
            if ports.is_empty() {
                return;
            }
            self.answer.open.insert("the source port".to_owned());
        }
        self.answer.add(Some(self.end), None);
    }

    fn branch(&mut self, at: usize, ports: &Ranges, item: &'a str) {
        self.answer.open.insert(item.to_owned());
        self.cases += 1;
        if self.cases > MOST_CASES {
            self.answer.add(None, None);
            return;
        }
        for case in [true, false] {
            self.assumed.push((item, case));
            self.from(at, ports);
            self.assumed.pop();
        }
    }

    /// Tells whether every clause holds under what is assumed, or which item must be assumed first.
    fn holds(&self, clauses: &'a [Vec<String>]) -> Result<bool, &'a str> {
        let mut first = None;
        for clause in clauses {
            let assumed =
                |item: &String| self.assumed.iter().find(|(name, _)| name == item).map(|(_, case)| *case);
            if clause.iter().any(|item| assumed(item) == Some(true)) {
                continue;
            }
            match clause.iter().find(|item| assumed(item).is_none()) {
                Some(item) => first = first.or(Some(item.as_str())),
                None => return Ok(false),
            }
        }
        first.map_or(Ok(true), Err)
    }
}
