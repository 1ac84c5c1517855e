//! Which part of the packet space a group of rules lets through.

use super::region::{Budget, PacketSet, TooMany, View, common, join, subtract, to_platform};
use super::rule::{Access, Direction, Gate, Group, Rule};

/// What a group lets through, as disjoint sets.
#[derive(Debug, Default)]
pub(super) struct PassedTraffic<'a> {
    /// What passes this gate.
    pub(super) passes: Vec<PacketSet>,
    /// What passes every gate: only the Virtual Network Manager says so.
    pub(super) always: Vec<PacketSet>,
    /// The rules that certainly drop some of it.
    pub(super) drops: Vec<&'a Rule>,
}

/// Goes through the groups that stand at one gate.
///
/// There may be several of the Virtual Network Manager. Of a subnet or an interface there is one; where a document has several,
/// nothing says which one it is: all have to let a packet pass for certain, and any of them may.
pub(super) fn sweep_gate<'a>(
    groups: &[&'a Group],
    direction: Direction,
    within: &[PacketSet],
    view: View<'_>,
    budget: &mut Budget,
) -> Result<PassedTraffic<'a>, TooMany> {
    let mut whole = PassedTraffic { passes: within.to_vec(), ..PassedTraffic::default() };
    let any = view == View::Most && groups.len() > 1 && groups.iter().all(|group| group.gate.is_alone());
    let mut passes = Vec::new();
    for group in groups {
        let swept = sweep(group, direction, &whole.passes, view, budget)?;
        whole.drops.extend(swept.drops);
        if any {
            passes.extend(subtract(swept.passes, &passes, budget)?);
        } else {
            // What one manager always allows another one may still drop.
            let kept = sweep(group, direction, &whole.always, view, budget)?;
            whole.always = kept.passes.into_iter().chain(kept.always).chain(swept.always).collect();
            whole.drops.extend(kept.drops);
            whole.passes = swept.passes;
        }
    }
    if any {
        whole.passes = passes;
    }
    Ok(whole)
}

/// Goes through the rules of a direction in order.
///
/// With `View::Least` the answer is what certainly passes, with `View::Most` what possibly does.
fn sweep<'a>(
    group: &'a Group,
    direction: Direction,
    within: &[PacketSet],
    view: View<'_>,
    budget: &mut Budget,
) -> Result<PassedTraffic<'a>, TooMany> {
    let most = view == View::Most;
    let opposite = if most { View::Least } else { View::Most };
    let mut left = within.to_vec();
    let mut swept = PassedTraffic::default();
    let unread = group.is_unread(direction);
    for rule in ordered(group, most).filter(|rule| rule.may_apply(direction)) {
        let placed = rule.priority.is_some() && rule.direction.is_some();
        let certain = |access| rule.access == Some(access) && placed;
        let lets = match rule.access {
            // What may stand anywhere lets nothing through for certain, and drops nothing for certain.
            Some(Access::Allow | Access::AlwaysAllow) => most || placed,
            None => most,
            Some(Access::Deny) => false,
        };
        if lets {
            let sets = PacketSet::of_rule(rule, direction, view, view);
            let hit = common(&left, &sets, budget)?;
            // What nobody read may be "always allow", where such rules stand.
            let always =
                group.gate == Gate::Manager && matches!(rule.access, None | Some(Access::AlwaysAllow));
            if always { &mut swept.always } else { &mut swept.passes }.extend(hit);
            left = subtract(left, &sets, budget)?;
        } else if certain(Access::Deny) || !most {
            let sets = PacketSet::of_rule(rule, direction, opposite, opposite);
            if left.iter().any(|set| sets.iter().any(|other| set.meets(other))) {
                swept.drops.push(rule);
            }
            left = subtract(left, &sets, budget)?;
        }
    }
    if direction == Direction::Outbound && !unread && group.gate != Gate::Manager {
        join(&mut swept.passes, to_platform(&left), budget)?;
    }
    match (group.gate, unread) {
        (Gate::Manager, false) => swept.passes.extend(left),
        (Gate::Manager, true) if most => swept.always.extend(left),
        (Gate::Subnet | Gate::Nic | Gate::Unknown, true) if most => swept.passes.extend(left),
        (Gate::Manager | Gate::Subnet | Gate::Nic | Gate::Unknown, _) => {}
    }
    if group.gate == Gate::Unknown && !most {
        // What cannot be placed allows nothing for certain.
        swept.passes.clear();
    }
    Ok(swept)
}

/// Returns the rules in the order in which they are tried.
///
/// Of rules of one priority any may be the first: for what certainly passes the strictest is, for what possibly does the mildest.
fn ordered(group: &Group, most: bool) -> impl Iterator<Item = &Rule> {
    let mut order: Vec<usize> = (0..group.rules.len()).collect();
    if group.has_any_rivals() {
        let place = |access: Option<Access>| match (access, most) {
            (None | Some(Access::AlwaysAllow), true) | (None | Some(Access::Deny), false) => 0,
            (Some(Access::Allow), _) => 1,
            (Some(Access::Deny), true) | (Some(Access::AlwaysAllow), false) => 2,
        };
        let key = |at: &usize| group.rules.get(*at).map(|rule| (rule.priority, place(rule.access)));
        order.sort_by_key(key);
    }
    order.into_iter().filter_map(|at| group.rules.get(at))
}
