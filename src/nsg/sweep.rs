//! Which part of the packet space a group of rules lets through.

use super::region::{Budget, Piece, TooMany, View, common, subtract};
use super::rule::{Access, Direction, Gate, Group, Rule};

/// What a group lets through, as disjoint pieces.
#[derive(Debug, Default)]
pub(super) struct Swept<'a> {
    /// What passes this gate.
    pub(super) passes: Vec<Piece>,
    /// What passes every gate.
    pub(super) always: Vec<Piece>,
    /// The rules that certainly drop some of it.
    pub(super) drops: Vec<&'a Rule>,
}

/// Goes through the rules of a direction in order.
///
/// With `View::Least` the answer is what certainly passes, with `View::Most` what possibly does.
pub(super) fn sweep<'a>(
    group: &'a Group,
    direction: Direction,
    within: &[Piece],
    view: View<'_>,
    budget: &mut Budget,
) -> Result<Swept<'a>, TooMany> {
    let most = view == View::Most;
    let opposite = if most { View::Least } else { View::Most };
    let mut left = within.to_vec();
    let mut swept = Swept::default();
    let mut heard = group.gate == Gate::Manager;
    for rule in group.rules.iter().filter(|rule| rule.may_apply(direction)) {
        heard = true;
        let placed = rule.priority.is_some() && rule.direction.is_some();
        let certain = |access| rule.access == Some(access) && placed;
        let lets = match rule.access {
            // What may stand anywhere lets nothing through for certain, and drops nothing for certain.
            Some(Access::Allow | Access::AlwaysAllow) => most || placed,
            None => most,
            Some(Access::Deny) => false,
        };
        if lets {
            let pieces = Piece::of_rule(rule, view, view);
            let hit = common(&left, &pieces, budget)?;
            if rule.access == Some(Access::AlwaysAllow) { &mut swept.always } else { &mut swept.passes }
                .extend(hit);
            left = subtract(left, &pieces, budget)?;
        } else if certain(Access::Deny) || !most {
            let pieces = Piece::of_rule(rule, opposite, opposite);
            if left.iter().any(|piece| pieces.iter().any(|other| piece.meets(other))) {
                swept.drops.push(rule);
            }
            left = subtract(left, &pieces, budget)?;
        }
    }
    if (group.gate == Gate::Manager) || (!heard && most) {
        swept.passes.extend(left);
    }
    if group.gate == Gate::Unknown && !most {
        // What cannot be placed allows nothing for certain.
        swept.passes.clear();
    }
    Ok(swept)
}
