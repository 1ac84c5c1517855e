//! Which rules of somebody's own take traffic away that would get through without them.

use super::finding::RuleRef;
use super::region::{Budget, PacketSet, TooMany, View, common, subtract};
use super::rule::{Access, Direction, Group, Rule};
use super::ruleset::Ruleset;

impl Ruleset {
    /// Lists the rules that are no default, deny, and stand before something that would let some of it through their gate. Where
    /// the rules are too many to be distinguished, every such rule that is not proven idle is listed.
    #[must_use]
    pub fn taken(&self) -> Vec<RuleRef> {
        let mut budget = Budget::new();
        let mut found = Vec::new();
        for direction in Direction::ALL {
            for group in direction.gates().into_iter().flat_map(|gate| self.at(gate)) {
                for (at, rule) in group.rules.iter().enumerate() {
                    let own = !rule.is_default && rule.access == Some(Access::Deny);
                    if own
                        && rule.may_apply(direction)
                        && takes(group, direction, (at, rule), &mut budget).unwrap_or(true)
                    {
                        found.push(RuleRef::new(group, rule));
                    }
                }
            }
        }
        found.dedup();
        found
    }
}

fn takes(
    group: &Group,
    direction: Direction,
    (at, rule): (usize, &Rule),
    budget: &mut Budget,
) -> Result<bool, TooMany> {
    let mut left = PacketSet::of_rule(rule, direction, View::Most, View::Most);
    let others = || group.rules.iter().filter(|other| other.may_apply(direction));
    for earlier in others().filter(|other| other.priority < rule.priority) {
        left = subtract(left, &PacketSet::of_rule(earlier, direction, View::Least, View::Least), budget)?;
        if left.is_empty() {
            return Ok(false);
        }
    }
    for later in group.rules.iter().skip(at + 1).filter(|other| other.may_apply(direction)) {
        match later.access {
            Some(Access::Allow | Access::AlwaysAllow) | None => {
                if !common(&left, &PacketSet::of_rule(later, direction, View::Most, View::Most), budget)?
                    .is_empty()
                {
                    return Ok(true);
                }
            }
            // Another rule of somebody's own that denies the same makes neither of them harmless.
            Some(Access::Deny) if !later.is_default => {}
            Some(Access::Deny) => {
                left =
                    subtract(left, &PacketSet::of_rule(later, direction, View::Least, View::Least), budget)?;
            }
        }
    }
    Ok(false)
}
