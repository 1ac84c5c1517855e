//! Exact regions of the packet space: protocol, source, source port, destination, destination port.

use super::peers::Peers;
use super::rule::{Direction, Ports, Protocols, Rule};
use crate::net::{Family, Platform, Ranges};

/// More packet sets than these are not kept apart.
const MAX_SETS: usize = 10_000;

/// More ranges than these are not kept in the packet sets of one question.
const MAX_RANGES: usize = 1_000_000;

/// How many steps are taken for one question; a document of a real interface needs a thousandth.
const MAX_STEPS: u64 = 20_000_000;

/// How many ranges are compared in the time of a step.
const RANGES_PER_STEP: usize = 16;

/// The regions are too many to be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rules cut the packet space into too many parts")]
pub(super) struct TooMany;

/// Bounds the work for one question.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    pub(super) const fn new() -> Self {
        Self(MAX_STEPS)
    }

    /// A part of what a question may take.
    pub(super) const fn part(of: u64) -> Self {
        Self(MAX_STEPS / of)
    }

    /// Takes steps from what is left.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooMany> {
        self.0 = self.0.checked_sub(u64::try_from(steps).unwrap_or(u64::MAX)).ok_or(TooMany)?;
        Ok(())
    }

    /// Spends the steps of comparing sets with another one.
    pub(super) fn compare(&mut self, sets: &[PacketSet], other: &PacketSet) -> Result<(), TooMany> {
        let weight = other.weight();
        let steps = |packets: &PacketSet| 1 + (packets.weight() + weight) / RANGES_PER_STEP;
        self.spend(sets.iter().map(steps).sum())
    }

    /// Holds what is kept against the limits.
    fn keep(&mut self, sets: &[PacketSet]) -> Result<(), TooMany> {
        self.spend(sets.len())?;
        let ranges: usize = sets.iter().map(PacketSet::weight).sum();
        if sets.len() > MAX_SETS || ranges > MAX_RANGES { Err(TooMany) } else { Ok(()) }
    }
}

/// How the names that nobody resolved are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View<'a> {
    /// They stand for nothing: what a rule certainly matches.
    Least,
    /// They stand for all that they may: what a rule possibly matches.
    Most,
    /// Only one of them is examined, whatever it stands for.
    Name(&'a str),
}

/// The product of one set per field. Protocols without ports have every port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PacketSet {
    pub(super) family: Family,
    pub(super) protocols: Protocols,
    pub(super) source: Ranges,
    pub(super) source_ports: Ranges,
    pub(super) destination: Ranges,
    pub(super) destination_ports: Ranges,
}

impl PacketSet {
    /// Returns the whole packet space.
    pub(super) fn everything() -> Vec<Self> {
        let parts = [Protocols::WITH_PORTS, Protocols::ALL.without(Protocols::WITH_PORTS)];
        let whole = |family: Family, protocols| Self {
            family,
            protocols,
            source: family.all(),
            source_ports: Ports::all().known,
            destination: family.all(),
            destination_ports: Ports::all().known,
        };
        Family::ALL.iter().flat_map(|family| parts.map(|protocols| whole(*family, protocols))).collect()
    }

    /// Returns what a rule matches of the packets of a direction.
    pub(super) fn of_rule(
        rule: &Rule,
        direction: Direction,
        source: View<'_>,
        destination: View<'_>,
    ) -> Vec<Self> {
        Self::of_rule_with(rule, direction, source == View::Most, source, destination)
    }

    /// Returns what a rule matches; with `most` a field that could not be read means anything, else nothing.
    pub(super) fn of_rule_with(
        rule: &Rule,
        direction: Direction,
        most: bool,
        source: View<'_>,
        destination: View<'_>,
    ) -> Vec<Self> {
        let none = Protocols::ALL.without(Protocols::ALL);
        let protocols = rule.protocols.unwrap_or(if most { Protocols::ALL } else { none });
        let ports = |ports: &Ports| {
            if most && ports.open.is_some() { Ports::all().known } else { ports.known.clone() }
        };
        let mut found = Vec::new();
        for family in Family::ALL {
            let whole = Self {
                family,
                protocols: protocols.without(Protocols::WITH_PORTS),
                source: side(&rule.source, family, source),
                source_ports: Ports::all().known,
                destination: towards(rule, direction, family, destination),
                destination_ports: Ports::all().known,
            };
            let with_ports = Self {
                protocols: protocols.and(Protocols::WITH_PORTS),
                source_ports: ports(&rule.source_ports),
                destination_ports: ports(&rule.destination_ports),
                ..whole.clone()
            };
            found.extend([whole, with_ports].into_iter().filter(|packets| !packets.is_empty()));
        }
        found
    }

    /// Returns how many ranges it is made of.
    pub(super) fn weight(&self) -> usize {
        [&self.source, &self.source_ports, &self.destination, &self.destination_ports]
            .iter()
            .map(|set| set.len())
            .sum()
    }

    fn is_empty(&self) -> bool {
        self.protocols.is_empty()
            || [&self.source, &self.source_ports, &self.destination, &self.destination_ports]
                .iter()
                .any(|set| set.is_empty())
    }

    /// Tells whether two sets share a packet.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.family == other.family
            && !self.protocols.and(other.protocols).is_empty()
            && self.destination_ports.meets(&other.destination_ports)
            && self.source_ports.meets(&other.source_ports)
            && self.destination.meets(&other.destination)
            && self.source.meets(&other.source)
    }

    /// Returns the intersection of two sets.
    pub(super) fn intersection(&self, other: &Self) -> Option<Self> {
        self.meets(other).then(|| Self {
            family: self.family,
            protocols: self.protocols.and(other.protocols),
            source: self.source.intersection(&other.source),
            source_ports: self.source_ports.intersection(&other.source_ports),
            destination: self.destination.intersection(&other.destination),
            destination_ports: self.destination_ports.intersection(&other.destination_ports),
        })
    }

    /// Adds what is left of this set without another one, as disjoint sets.
    fn without(self, other: &Self, left: &mut Vec<Self>) {
        let Some(both) = self.intersection(other) else {
            left.push(self);
            return;
        };
        // Field by field: what differs there, and agrees in the fields before.
        let mut rest = self;
        let mut keep = |packets: Self| left.extend((!packets.is_empty()).then_some(packets));
        keep(Self { protocols: rest.protocols.without(both.protocols), ..rest.clone() });
        rest.protocols = both.protocols;
        keep(Self {
            destination_ports: rest.destination_ports.difference(&both.destination_ports),
            ..rest.clone()
        });
        rest.destination_ports = both.destination_ports;
        keep(Self { source_ports: rest.source_ports.difference(&both.source_ports), ..rest.clone() });
        rest.source_ports = both.source_ports;
        keep(Self { destination: rest.destination.difference(&both.destination), ..rest.clone() });
        rest.destination = both.destination;
        rest.source = rest.source.difference(&both.source);
        keep(rest);
    }
}

/// Returns what is in some of the sets and in none of the others; disjoint sets stay disjoint.
pub(super) fn subtract(
    sets: Vec<PacketSet>,
    others: &[PacketSet],
    budget: &mut Budget,
) -> Result<Vec<PacketSet>, TooMany> {
    let mut sets = sets;
    for other in others {
        budget.compare(&sets, other)?;
        if !sets.iter().any(|packets| packets.meets(other)) {
            continue;
        }
        let mut left = Vec::with_capacity(sets.len());
        for packets in sets {
            packets.without(other, &mut left);
        }
        budget.keep(&left)?;
        sets = left;
    }
    Ok(sets)
}

/// Returns what is in both; where the sets of each are disjoint, those of the answer are.
pub(super) fn common(
    sets: &[PacketSet],
    others: &[PacketSet],
    budget: &mut Budget,
) -> Result<Vec<PacketSet>, TooMany> {
    let mut found = Vec::new();
    for packets in sets {
        budget.compare(others, packets)?;
        found.extend(others.iter().filter_map(|other| packets.intersection(other)));
        if found.len() > MAX_SETS {
            return Err(TooMany);
        }
    }
    budget.keep(&found)?;
    Ok(found)
}

/// Returns where a rule's packets go: outbound it says nothing of the platform's own addresses unless it names them.
fn towards(rule: &Rule, direction: Direction, family: Family, view: View<'_>) -> Ranges {
    let mut found = side(&rule.destination, family, view);
    if direction == Direction::Inbound || family == Family::Ipv6 || matches!(view, View::Name(_)) {
        return found;
    }
    for platform in Platform::ALL {
        let may = match rule.destination.undecided_of(platform) {
            Some(open) => open.is_empty() || view == View::Most,
            None => false,
        };
        if !may && found.meets(&platform.range()) {
            found = found.difference(&platform.range());
        }
    }
    found
}

/// Returns the part of some sets that goes to the platform's own addresses.
pub(super) fn to_platform(sets: &[PacketSet]) -> Vec<PacketSet> {
    let own = Platform::ALL.iter().fold(Ranges::empty(), |all, platform| all.union(&platform.range()));
    let v4 = sets.iter().filter(|packets| packets.family == Family::Ipv4 && packets.destination.meets(&own));
    v4.map(|packets| PacketSet { destination: packets.destination.intersection(&own), ..packets.clone() })
        .collect()
}

/// Adds sets to others; one that differs from another in nothing but where it goes is made one with it.
pub(super) fn join(
    sets: &mut Vec<PacketSet>,
    more: Vec<PacketSet>,
    budget: &mut Budget,
) -> Result<(), TooMany> {
    for packets in more {
        budget.spend(1 + sets.len())?;
        let same = |other: &&mut PacketSet| {
            (other.family, other.protocols) == (packets.family, packets.protocols)
                && other.source == packets.source
                && other.source_ports == packets.source_ports
                && other.destination_ports == packets.destination_ports
        };
        match sets.iter_mut().find(same) {
            Some(other) => other.destination = other.destination.union(&packets.destination),
            None => sets.push(packets),
        }
    }
    Ok(())
}

fn side(peers: &Peers, family: Family, view: View<'_>) -> Ranges {
    let known = peers.known.family(family);
    match view {
        View::Least => known.clone(),
        View::Most if peers.open.iter().any(|open| open.never.family(family).is_empty()) => family.all(),
        View::Most => peers
            .open
            .iter()
            .fold(known.clone(), |set, open| set.union(&family.all().difference(open.never.family(family)))),
        View::Name(name) => {
            let listed = peers.open.iter().any(|open| open.name.eq_ignore_ascii_case(name));
            if listed || peers.known.is_all(family) { family.all() } else { Ranges::empty() }
        }
    }
}
