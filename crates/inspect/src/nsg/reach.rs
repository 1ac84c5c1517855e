//! Who reaches what: the regions of the packet space that get through every gate.

use std::net::IpAddr;

use serde::Serialize;

use super::region::{Budget, PacketSet, TooMany, View, subtract};
use super::rule::{Direction, Gate, Group, Rule};
use super::ruleset::Ruleset;
use super::sweep::sweep_gate;
use crate::net::{Family, Ranges, Warning};

/// How often the rules are halved where they are too many.
const MAX_HALVINGS: u32 = 10;

/// How many prefixes are reported altogether.
const MAX_PREFIXES: usize = 500_000;

/// One region: every packet of its product gets through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The family of its addresses.
    pub family: Family,
    /// The protocols that get through.
    pub protocols: Vec<&'static str>,
    /// Where its packets come from.
    pub source: Vec<String>,
    /// The ports that they come from.
    pub source_ports: Vec<String>,
    /// Where they go.
    pub destination: Vec<String>,
    /// The ports that they go to.
    pub destination_ports: Vec<String>,
}

/// The answer to "who reaches what?".
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// The version of this format.
    pub format: u8,
    /// The direction of the packets.
    pub direction: Direction,
    /// What certainly gets through, as disjoint regions.
    pub regions: Vec<Region>,
    /// What gets through or not, as the unresolved items have it; disjoint from the others.
    pub undecided: Vec<Region>,
    /// The items that decide over it.
    pub unresolved: Vec<String>,
    /// What a reader should know of the rules as a whole.
    pub remark: Option<&'static str>,
    /// What could not be read or distinguished.
    pub warnings: Vec<Warning>,
}

impl Ruleset {
    /// Answers who reaches what, or who reaches one address.
    #[must_use]
    pub fn reach(&self, direction: Direction, to: Option<IpAddr>) -> Reach {
        let mut reach = Reach {
            format: 1,
            direction,
            regions: Vec::new(),
            undecided: Vec::new(),
            unresolved: Vec::new(),
            remark: self.remark(),
            warnings: self.warnings.clone(),
        };
        let mut within = PacketSet::everything();
        if let Some(to) = to.map(|to| to.to_canonical()) {
            let number = Family::number(to);
            within.retain(|packets| packets.family == Family::of(to));
            within.iter_mut().for_each(|packets| packets.destination = Ranges::one(number, number));
        }
        if let Ok((regions, undecided)) = self.regions(direction, &within, &mut Budget::new()) {
            if !undecided.is_empty() {
                reach.unresolved = self.open_items(direction);
            }
            (reach.regions, reach.undecided) = (regions, undecided);
            return reach;
        }
        // As many of the first rules as can be distinguished: what they say is certain, and all that reaches the others is open.
        let longest = self.groups.iter().map(|group| group.rules.len()).max().unwrap_or_default();
        let mut kept = longest / 2;
        for part in 1..=MAX_HALVINGS {
            let (first, rest) = self.first(kept, direction);
            if let Ok((regions, undecided)) = first.regions(direction, &within, &mut Budget::part(1 << part))
            {
                let what = format!("{TooMany}: only the first {kept} rules of each group are distinguished");
                reach.warnings.push(Warning::whole(what));
                reach.unresolved = vec![rest];
                (reach.regions, reach.undecided) = (regions, undecided);
                return reach;
            }
            kept /= 2;
        }
        reach.unbounded()
    }

    /// Returns what certainly gets through and what possibly does, as disjoint regions.
    fn regions(
        &self,
        direction: Direction,
        within: &[PacketSet],
        budget: &mut Budget,
    ) -> Result<(Vec<Region>, Vec<Region>), TooMany> {
        let least = self.through(direction, within, View::Least, budget)?;
        let most = self.through(direction, within, View::Most, budget)?;
        let open = subtract(most, &least, budget)?;
        let mut left = MAX_PREFIXES;
        let mut reported =
            |sets: &[PacketSet]| sets.iter().map(|packets| Region::of(packets, &mut left)).collect();
        let certain: Result<_, TooMany> = reported(&least);
        Ok((certain?, reported(&open)?))
    }

    /// Returns the rules with only so many of each group and direction; whatever meets none of them is not decided.
    fn first(&self, kept: usize, direction: Direction) -> (Self, String) {
        let mut groups = Vec::new();
        let mut names = Vec::new();
        for group in &self.groups {
            let mut rules: Vec<Rule> =
                group.rules.iter().filter(|rule| rule.may_apply(direction)).cloned().collect();
            if rules.len() > kept {
                names.push(group.name.clone().unwrap_or_else(|| "a group without a name".to_owned()));
                // Of rules of one priority none is known to be the first: all of them stay, or none.
                let cut = rules.get(kept).and_then(|rule| rule.priority);
                rules.retain(|rule| rule.priority < cut);
                rules.push(Rule::unread(direction, cut));
            }
            groups.push(Group::new(group.gate, group.name.clone(), rules));
        }
        let rest = format!("the rules of {} behind the first {kept}", names.join(", "));
        (Self { groups, warnings: Vec::new() }, rest)
    }

    /// Returns what gets through every gate.
    pub(super) fn through(
        &self,
        direction: Direction,
        within: &[PacketSet],
        view: View<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<PacketSet>, TooMany> {
        let (mut passes, mut always) = (within.to_vec(), Vec::new());
        for gate in direction.gates() {
            let groups: Vec<&Group> = self.at(gate).collect();
            let swept = sweep_gate(&groups, direction, &passes, view, budget)?;
            passes = swept.passes;
            always.extend(swept.always);
        }
        passes.extend(always);
        Ok(passes)
    }

    fn open_items(&self, direction: Direction) -> Vec<String> {
        let mut items = std::collections::BTreeSet::new();
        for group in &self.groups {
            let name = group.name.as_deref().unwrap_or("a group without a name");
            if group.gate == Gate::Unknown {
                items.insert(format!("the gate of {name}"));
            }
            if group.is_unread(direction) {
                items.insert(format!("the rules of {name}"));
            }
            if group.has_any_rivals() {
                items.insert(format!("the order of rules of one priority in {name}"));
            }
            items.extend(self.which(group.gate));
            for rule in group.rules.iter().filter(|rule| rule.may_apply(direction)) {
                items.extend(rule.source.open.iter().map(|open| format!("source {}", open.name)));
                items.extend(rule.destination.open.iter().map(|open| format!("destination {}", open.name)));
                let ports = [&rule.source_ports.open, &rule.destination_ports.open];
                items.extend(ports.into_iter().flatten().cloned());
                if rule.priority.is_none()
                    || rule.access.is_none()
                    || rule.protocols.is_none()
                    || rule.direction.is_none()
                {
                    items.insert(format!("the rule {}", rule.name));
                }
            }
        }
        items.into_iter().collect()
    }
}

impl Reach {
    /// Says that there is no answer, because it would be too long.
    fn unbounded(mut self) -> Self {
        self.warnings.push(Warning::whole(TooMany.to_string()));
        self.unresolved.push(TooMany.to_string());
        self
    }
}

impl Region {
    fn of(packets: &PacketSet, left: &mut usize) -> Result<Self, TooMany> {
        Ok(Self {
            family: packets.family,
            protocols: packets.protocols.names(),
            source: addresses(packets.family, &packets.source, left)?,
            source_ports: ports(&packets.source_ports),
            destination: addresses(packets.family, &packets.destination, left)?,
            destination_ports: ports(&packets.destination_ports),
        })
    }
}

fn addresses(family: Family, set: &Ranges, left: &mut usize) -> Result<Vec<String>, TooMany> {
    if set.covers(0, family.last()) {
        return Ok(vec!["any".to_owned()]);
    }
    let mut texts = Vec::new();
    for (first, last) in set.iter() {
        let prefixes = family.prefixes(&Ranges::one(first, last));
        *left = left.checked_sub(prefixes.len()).ok_or(TooMany)?;
        texts.extend(prefixes.iter().map(ToString::to_string));
    }
    Ok(texts)
}

fn ports(set: &Ranges) -> Vec<String> {
    if set.covers(0, u128::from(u16::MAX)) {
        return vec!["any".to_owned()];
    }
    set.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect()
}
