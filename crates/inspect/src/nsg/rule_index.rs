//! Finds the few rules that a packet may match among thousands, sixty-four at a time.

use super::packet::Packet;
use super::peers::Peers;
use super::rule::{Direction, Ports, Protocols, Rule};
use crate::net::{Family, Ranges};

/// How many rules are looked at together.
const RULES_PER_BLOCK: usize = 64;

/// The rules of a direction as numbers: of every field the first and the last value that may match.
///
/// A rule that it lets through may still miss the packet; one that it holds back certainly does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RuleIndex {
    rules: Vec<usize>,
    protocols: Vec<Protocols>,
    ports: FieldIndex<u16>,
    v4: [FieldIndex<u32>; 2],
    /// Of IPv6 the network's half.
    v6: [FieldIndex<u64>; 2],
}

/// One field of every rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct FieldIndex<T> {
    first: Vec<T>,
    last: Vec<T>,
}

/// Which rules of a block are still in.
type Hits = [bool; RULES_PER_BLOCK];

impl<T: Copy + Ord> FieldIndex<T> {
    fn push(&mut self, (first, last): (T, T)) {
        self.first.push(first);
        self.last.push(last);
    }

    fn keep(&self, start: usize, value: T, hits: &mut Hits) {
        let (first, last) = (from(&self.first, start), from(&self.last, start));
        for ((hit, first), last) in hits.iter_mut().zip(first).zip(last) {
            // Without a branch, so that several are compared at once.
            *hit &= (*first <= value) & (value <= *last);
        }
    }
}

impl RuleIndex {
    pub(super) fn new(rules: &[Rule], direction: Direction) -> Self {
        let mut rule_index = Self::default();
        for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.may_apply(direction)) {
            rule_index.rules.push(at);
            rule_index.protocols.push(rule.protocols.unwrap_or(Protocols::ALL));
            rule_index.ports.push(ports(&rule.destination_ports));
            for (side, peers) in [&rule.source, &rule.destination].into_iter().enumerate() {
                let (v4, v6) = (bounds(peers, Family::Ipv4), bounds(peers, Family::Ipv6));
                if let Some(field) = rule_index.v4.get_mut(side) {
                    field.push((low(v4.0), low(v4.1)));
                }
                if let Some(field) = rule_index.v6.get_mut(side) {
                    field.push((high(v6.0), high(v6.1)));
                }
            }
        }
        rule_index
    }

    /// Tells whether no rule speaks of the direction.
    pub(super) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the places of the rules that may match, in order, from a place on.
    pub(super) fn candidates<'a>(
        &'a self,
        packet: &'a Packet,
        protocol: Protocols,
        place: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let begin = self.rules.partition_point(|at| *at < place) / RULES_PER_BLOCK * RULES_PER_BLOCK;
        let found = (begin..self.rules.len()).step_by(RULES_PER_BLOCK).flat_map(move |start| {
            let hits = self.block(start, packet, protocol);
            let rules = from(&self.rules, start).iter().zip(hits);
            rules.filter(|(_, hit)| *hit).map(|(at, _)| *at)
        });
        found.filter(move |at| *at >= place)
    }

    fn block(&self, start: usize, packet: &Packet, protocol: Protocols) -> Hits {
        let mut hits = [true; RULES_PER_BLOCK];
        if !protocol.and(Protocols::WITH_PORTS).is_empty() {
            self.ports.keep(start, packet.destination_port, &mut hits);
            // Most blocks end here; asking all at once is quicker than asking until one answers.
            if !hits.iter().fold(false, |any, hit| any | hit) {
                return hits;
            }
        }
        for (hit, own) in hits.iter_mut().zip(from(&self.protocols, start)) {
            *hit &= !own.and(protocol).is_empty();
        }
        let sides = [packet.source, packet.destination].map(Family::number);
        match Family::of(packet.source) {
            Family::Ipv4 => {
                self.v4.iter().zip(sides).for_each(|(field, side)| field.keep(start, low(side), &mut hits));
            }
            Family::Ipv6 => {
                self.v6.iter().zip(sides).for_each(|(field, side)| field.keep(start, high(side), &mut hits));
            }
        }
        hits
    }
}

fn from<T>(items: &[T], start: usize) -> &[T] {
    items.get(start..).unwrap_or_default()
}

fn bounds(peers: &Peers, family: Family) -> (u128, u128) {
    if peers.open.is_empty() { span(peers.known.family(family)) } else { (0, family.last()) }
}

fn ports(ports: &Ports) -> (u16, u16) {
    if ports.open.is_some() {
        return (0, u16::MAX);
    }
    let (first, last) = span(&ports.known);
    (u16::try_from(first).unwrap_or(u16::MAX), u16::try_from(last).unwrap_or(u16::MAX))
}

/// Returns the bounds of a set; those of one without members hold nothing.
fn span(set: &Ranges) -> (u128, u128) {
    set.bounds().unwrap_or((u128::MAX, 0))
}

fn low(number: u128) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn high(number: u128) -> u64 {
    u64::try_from(number >> 64).unwrap_or(u64::MAX)
}
