//! One gate: which of its rules decides, over everything that is not known.

use super::cases::{Answer, Cases};
use super::packet::Packet;
use super::rule::{Access, Gate, Group, Protocols, Rule};
use crate::net::Ranges;

/// The part of a packet in which a rule misses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The way it goes.
    Direction,
    /// Its protocol.
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

/// What may be needed for a rule to match: of every clause at least one item must hold.
pub(super) type Clauses = Vec<Vec<String>>;

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
    let sieve = group.sieve(packet.direction);
    if sieve.is_empty() && group.gate != Gate::Manager {
        let mut answer = Answer::default();
        answer.add(None, None);
        answer
            .open
            .insert(format!("the rules of {}", group.name.as_deref().unwrap_or("a group without a name")));
        return answer;
    }
    let mut cases = Cases::default();
    let mut last = None;
    for at in sieve.candidates(packet, protocol, 0) {
        let Some(rule) = group.rules.get(at) else { continue };
        let Ok(clauses) = fit(rule, packet, protocol) else { continue };
        if cases.add(at, rule.access, clauses, source_ports(rule, packet, protocol)) {
            last = Some(at);
            break;
        }
    }
    let end = if group.gate == Gate::Manager { Access::Allow } else { Access::Deny };
    Answer { last, ..cases.answer(end) }
}

/// Tells whether a rule certainly matches whatever of the packet is asked about.
pub(super) fn certainly(rule: &Rule, packet: &Packet) -> bool {
    packet.protocols.iter().all(|protocol| {
        fit(rule, packet, *protocol).is_ok_and(|clauses| clauses.is_empty())
            && source_ports(rule, packet, *protocol).is_none()
    })
}

/// Returns the source ports of a rule where they matter and the packet's is not known.
pub(super) fn source_ports(rule: &Rule, packet: &Packet, protocol: Protocols) -> Option<Ranges> {
    let matters = packet.source_port.is_none() && !protocol.and(Protocols::WITH_PORTS).is_empty();
    let all = rule.source_ports.known.covers(0, u128::from(u16::MAX));
    (matters && !all).then(|| rule.source_ports.known.clone())
}
