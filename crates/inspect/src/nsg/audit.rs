//! What a reviewer of effective rules would want to know.

use serde::Serialize;

use super::finding::{Contradiction, Exposure, Ordered, RuleRef, Shadowed};
use super::peers::Peers;
use super::region::{Budget, PacketSet, TooMany, View, subtract};
use super::rule::{Access, Direction, Gate, Group, Protocols, Rule};
use super::ruleset::Ruleset;
use super::sweep::sweep_gate;
use crate::net::{Family, Ranges, Warning};

/// The ports over which machines are managed.
const MANAGEMENT: [u16; 2] = [22, 3389];

/// More pairs of names than these are not looked at for one rule.
const MAX_VIEWS: usize = 256;

/// Effective rules in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The version of this format.
    pub format: u8,
    /// The rules of every gate and direction in order.
    pub order: Vec<Ordered>,
    /// Custom rules that can never match.
    pub shadowed: Vec<Shadowed>,
    /// Custom rules that allow everything from everywhere.
    pub permissive: Vec<RuleRef>,
    /// Rules that let anybody reach 22 or 3389.
    pub exposed: Vec<Exposure>,
    /// Custom rules that allow what another gate drops altogether.
    pub contradictory: Vec<Contradiction>,
    /// Gates and directions at which only the platform's rules stand.
    pub default_only: Vec<Ordered>,
    /// How many rules are not judged, because telling all of them apart would take too long.
    pub unjudged: usize,
    /// What a reader should know of the rules as a whole.
    pub remark: Option<&'static str>,
    /// What could not be read or distinguished.
    pub warnings: Vec<Warning>,
}

impl Ruleset {
    /// Lists what a reviewer would want to know.
    #[must_use]
    pub fn audit(&self) -> Audit {
        let mut audit =
            Audit { format: 1, remark: self.remark(), warnings: self.warnings.clone(), ..Audit::default() };
        let mut budget = Budget::new();
        for direction in Direction::ALL {
            for gate in direction.gates() {
                for group in self.at(gate) {
                    self.examine(group, direction, &mut audit, &mut budget);
                }
            }
        }
        audit
    }

    fn examine(&self, group: &Group, direction: Direction, audit: &mut Audit, budget: &mut Budget) {
        let rules: Vec<&Rule> = group.rules.iter().filter(|rule| rule.may_apply(direction)).collect();
        let list =
            |rules: Vec<RuleRef>| Ordered { gate: group.gate, nsg: group.name.clone(), direction, rules };
        audit.order.push(list(rules.iter().map(|rule| RuleRef::new(group, rule)).collect()));
        if !rules.is_empty() && rules.iter().all(|rule| rule.is_default) {
            audit.default_only.push(list(Vec::new()));
        }
        let mut unjudged: Option<(TooMany, Vec<&str>)> = None;
        let before: Vec<Before<'_>> = rules.iter().map(|rule| Before::new(rule, direction)).collect();
        for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| !rule.is_default) {
            // Of rules of one priority that differ none is known to be the first.
            let first = rules.partition_point(|other| other.priority < rule.priority);
            let earlier = before.get(..if group.has_any_rivals() { first } else { at }).unwrap_or_default();
            if let Err(problem) = self.examine_rule(group, direction, rule, earlier, audit, budget) {
                unjudged.get_or_insert_with(|| (problem, Vec::new())).1.push(rule.name.as_str());
                suspect(group, direction, rule, audit);
            }
        }
        if let Some((problem, names)) = unjudged {
            audit.unjudged += names.len();
            let first: Vec<&str> = names.iter().take(5).copied().collect();
            let what = format!("{} rules are not judged ({}): {problem}", names.len(), first.join(", "));
            audit.warnings.push(Warning::whole(what));
        }
    }

    fn examine_rule(
        &self,
        group: &Group,
        direction: Direction,
        rule: &Rule,
        earlier: &[Before<'_>],
        audit: &mut Audit,
        budget: &mut Budget,
    ) -> Result<(), TooMany> {
        if let Some(by) = shadow(rule, direction, earlier, budget)? {
            let redundant = by.iter().all(|other| other.access == rule.access);
            let by = by.iter().map(|rule| rule.name.clone()).collect();
            audit.shadowed.push(Shadowed { rule: RuleRef::new(group, rule), by, redundant });
            return Ok(());
        }
        if !matches!(rule.access, Some(Access::Allow | Access::AlwaysAllow)) {
            return Ok(());
        }
        if is_permissive(rule) {
            audit.permissive.push(RuleRef::new(group, rule));
        }
        let mut own = PacketSet::of_rule(rule, direction, View::Most, View::Most);
        for other in earlier {
            own = subtract(own, &other.least, budget)?;
        }
        let (elsewhere, dropped_by) = self.elsewhere(group, direction, &own, budget)?;
        if elsewhere.is_empty() && !own.is_empty() {
            let rule = RuleRef::new(group, rule);
            audit.contradictory.push(Contradiction { rule, dropped_by: dropped_by.clone() });
        }
        let ports = managed(rule, direction, &own);
        if !ports.is_empty() {
            let through = ports.iter().any(|port| elsewhere.iter().any(|set| manages(set, *port)));
            let dropped_by = if through { Vec::new() } else { dropped_by };
            audit.exposed.push(Exposure { rule: RuleRef::new(group, rule), ports, through, dropped_by });
        }
        Ok(())
    }

    /// Returns what of some packet sets the other gates possibly let through, and the rules that certainly drop the rest.
    fn elsewhere(
        &self,
        group: &Group,
        direction: Direction,
        sets: &[PacketSet],
        budget: &mut Budget,
    ) -> Result<(Vec<PacketSet>, Vec<RuleRef>), TooMany> {
        let (mut left, mut dropped_by) = (sets.to_vec(), Vec::new());
        for gate in direction.gates().into_iter().filter(|gate| ![group.gate, Gate::Unknown].contains(gate)) {
            let others: Vec<&Group> = self.at(gate).collect();
            let swept = sweep_gate(&others, direction, &left, View::Most, budget)?;
            // Where nothing says which of them stands there, none of them drops anything for certain.
            if let [other] = others.as_slice() {
                dropped_by.extend(swept.drops.iter().map(|rule| RuleRef::new(other, rule)));
            }
            left = swept.passes.into_iter().chain(swept.always).collect();
        }
        Ok((left, dropped_by))
    }
}

/// A rule that is tried before others, and what it certainly takes.
struct Before<'a> {
    rule: &'a Rule,
    least: Vec<PacketSet>,
}

impl<'a> Before<'a> {
    fn new(rule: &'a Rule, direction: Direction) -> Self {
        Self { rule, least: certain(rule, direction, View::Least, View::Least) }
    }
}

/// Returns the rules that take every packet of a rule before it, where they do.
fn shadow<'a>(
    rule: &Rule,
    direction: Direction,
    earlier: &[Before<'a>],
    budget: &mut Budget,
) -> Result<Option<Vec<&'a Rule>>, TooMany> {
    if rule.priority.is_none() || rule.direction.is_none() {
        return Ok(None);
    }
    let views = |peers: &'_ Peers| -> Vec<Option<String>> {
        let names = peers.open.iter().map(|open| Some(open.name.clone()));
        std::iter::once(None).chain(names).collect()
    };
    let (sources, destinations) = (views(&rule.source), views(&rule.destination));
    if sources.len().saturating_mul(destinations.len()) > MAX_VIEWS {
        return Err(TooMany);
    }
    let view = |name: &'_ Option<String>| name.clone();
    let (mut by, mut any) = (Vec::<&Rule>::new(), false);
    for source in sources.iter().map(view) {
        for destination in destinations.iter().map(view) {
            let source = source.as_deref().map_or(View::Least, View::Name);
            let destination = destination.as_deref().map_or(View::Least, View::Name);
            // To look a name up takes as long as there are names.
            budget.spend(sources.len() + destinations.len())?;
            let mut left = PacketSet::of_rule_with(rule, direction, true, source, destination);
            any |= !left.is_empty();
            for other in earlier {
                let looked = (source, destination) != (View::Least, View::Least);
                if looked {
                    budget.spend(4 + other.rule.source.open.len() + other.rule.destination.open.len())?;
                }
                let named = looked.then(|| certain(other.rule, direction, source, destination));
                let sets = named.as_ref().unwrap_or(&other.least);
                sets.iter().try_for_each(|other| budget.compare(&left, other))?;
                if left.iter().any(|set| sets.iter().any(|other| set.meets(other))) {
                    by.extend(
                        (!by.iter().any(|known| std::ptr::eq(*known, other.rule))).then_some(other.rule),
                    );
                    left = subtract(left, sets, budget)?;
                }
                if left.is_empty() {
                    break;
                }
            }
            if !left.is_empty() {
                return Ok(None);
            }
        }
    }
    Ok(any.then_some(by))
}

/// Returns what a rule certainly takes.
fn certain(rule: &Rule, direction: Direction, source: View<'_>, destination: View<'_>) -> Vec<PacketSet> {
    if rule.priority.is_none() || rule.direction.is_none() {
        return Vec::new();
    }
    PacketSet::of_rule(rule, direction, source, destination)
}

/// Tells the worst of a rule that is not judged: too many rules must not hide an open port.
fn suspect(group: &Group, direction: Direction, rule: &Rule, audit: &mut Audit) {
    if !matches!(rule.access, Some(Access::Allow | Access::AlwaysAllow)) {
        return;
    }
    let reported = RuleRef::new(group, rule);
    if is_permissive(rule) && audit.permissive.last() != Some(&reported) {
        audit.permissive.push(reported.clone());
    }
    let ports = managed(rule, direction, &PacketSet::of_rule(rule, direction, View::Most, View::Most));
    if !ports.is_empty() {
        audit.exposed.push(Exposure { rule: reported, ports, through: true, dropped_by: Vec::new() });
    }
}

fn is_permissive(rule: &Rule) -> bool {
    is_anybody(&rule.source)
        && is_anybody(&rule.destination)
        && rule.destination_ports.known.covers(0, 65_535)
}

/// Returns the management ports that anybody reaches through some packet sets of a rule.
fn managed(rule: &Rule, direction: Direction, sets: &[PacketSet]) -> Vec<u16> {
    if direction != Direction::Inbound || !is_anybody(&rule.source) {
        return Vec::new();
    }
    let open = |port: &u16| sets.iter().any(|set| manages(set, *port));
    MANAGEMENT.into_iter().filter(open).collect()
}

fn is_anybody(peers: &Peers) -> bool {
    peers.anybody || Family::ALL.iter().any(|family| peers.known.is_all(*family))
}

/// Tells whether a set has packets over which a machine is managed.
fn manages(set: &PacketSet, port: u16) -> bool {
    // RDP speaks UDP too.
    let protocols = if port == 3389 { Protocols::WITH_PORTS } else { Protocols::TCP };
    let port = u128::from(port);
    !set.protocols.and(protocols).is_empty() && set.destination_ports.meets(&Ranges::one(port, port))
}
