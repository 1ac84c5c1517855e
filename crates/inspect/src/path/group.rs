//! The security groups of an interface, asked for a packet and asked again behind what denies it.

use std::borrow::Cow;

use super::fault::{Cause, Fault, Object};
use super::filter::CALLER_PORT;
use super::flow::Wire;
use super::hop::Effect;
use crate::nsg::{Access, Direction, Gate, Group, Packet, Ports, Protocols, Rule, Ruleset, Verdict};

/// So many rules are taken away one after another before the rest is left open.
const MAX_REMOVALS: usize = 64;

/// What the groups of an interface do to a packet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) stops: Vec<Effect>,
    pub(super) doubts: Vec<String>,
    /// The rules that let it through, gate by gate.
    pub(super) allowed: Option<String>,
}

/// A rule at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GateRule {
    gate: Gate,
    group: Option<String>,
    rule: String,
}

/// Takes a packet through the groups of an interface.
pub(super) fn pass(rules: &Ruleset, direction: Direction, wire: &Wire, gone: &[Cause]) -> Passed {
    let mut passed = Passed::default();
    let Some(packet) = packet(direction, wire) else {
        passed.doubts.push("the packet cannot be described".to_owned());
        return passed;
    };
    let mut removed: Vec<GateRule> = Vec::new();
    let mut closed: Vec<(Gate, Option<String>)> = Vec::new();
    let mut current = Cow::Borrowed(rules);
    loop {
        let ruling = current.verdict(&packet);
        match ruling.verdict {
            Verdict::Allow | Verdict::Skipped | Verdict::Absent => {
                let rules: Vec<&str> = ruling.gates.iter().filter_map(|gate| gate.rule).collect();
                passed.allowed = (removed.is_empty() && !rules.is_empty()).then(|| rules.join(", "));
                return passed;
            }
            Verdict::Indeterminate => {
                passed.doubts.extend(ruling.unresolved.iter().cloned());
                if ruling.unresolved.is_empty() {
                    passed.doubts.push("the rules leave it open".to_owned());
                }
                return passed;
            }
            Verdict::Deny => {}
        }
        let before = removed.len();
        for gate in ruling.gates.iter().filter(|gate| gate.verdict == Verdict::Deny) {
            let group = gate.nsg.map(str::to_owned);
            let Some(name) = gate.rule.or_else(|| gate.candidates.first().copied()) else { continue };
            let rule = find(&current, gate.gate, gate.nsg, name);
            let catches_all = rule.is_some_and(is_catch_all);
            if catches_all {
                closed.push((gate.gate, group.clone()));
            }
            removed.push(GateRule { gate: gate.gate, group: group.clone(), rule: name.to_owned() });
            let group = group.unwrap_or_else(|| "unknown".to_owned());
            let reason = match gate.priority {
                Some(priority) => format!("the rule {name} ({priority}) of {group} denies it"),
                None => format!("the rule {name} of {group} denies it"),
            };
            let cause = Cause::new(Fault::NsgDeny, Object::NsgRule { group, rule: name.to_owned() });
            let known = passed.stops.iter().any(|effect| effect.cause == cause);
            if !known && !gone.contains(&cause) {
                passed.stops.push(Effect { cause, rule: Some(name.to_owned()), reason, catches_all });
            }
        }
        if removed.len() == before || removed.len() > MAX_REMOVALS {
            passed.doubts.push("which rule denies it is not reported".to_owned());
            return passed;
        }
        current = Cow::Owned(rules.with_rules(|group| changed(group, direction, &removed, &closed)));
    }
}

fn packet(direction: Direction, wire: &Wire) -> Option<Packet> {
    let word = match direction {
        Direction::Inbound => "inbound",
        Direction::Outbound => "outbound",
    };
    let port = Some(wire.sport.unwrap_or(CALLER_PORT));
    Packet::new(word, wire.protocol.as_str(), wire.src, port, wire.dst, wire.dport.unwrap_or(0)).ok()
}

fn find<'a>(rules: &'a Ruleset, gate: Gate, group: Option<&str>, name: &str) -> Option<&'a Rule> {
    let own = rules.groups().iter().filter(|own| own.gate == gate && own.name.as_deref() == group);
    own.flat_map(|own| &own.rules).find(|rule| rule.name == name)
}

/// Tells whether a rule denies whatever comes to it: a default one, or one without conditions.
pub(super) fn is_catch_all(rule: &Rule) -> bool {
    let every = |ports: &Ports| ports.open.is_none() && ports.known.covers(0, u128::from(u16::MAX));
    rule.is_default
        || (rule.protocols == Some(Protocols::ALL)
            && rule.source.anybody
            && rule.destination.anybody
            && every(&rule.source_ports)
            && every(&rule.destination_ports))
}

/// Returns the rules of a group without those that were taken away. Where that is one that catches all, everything that nothing
/// else denies gets through.
fn changed(
    group: &Group,
    direction: Direction,
    removed: &[GateRule],
    closed: &[(Gate, Option<String>)],
) -> Vec<Rule> {
    let open = closed.iter().any(|(gate, name)| *gate == group.gate && *name == group.name);
    let denies_all =
        |rule: &Rule| rule.access == Some(Access::Deny) && rule.may_apply(direction) && is_catch_all(rule);
    let taken = |rule: &Rule| {
        removed.iter().any(|place| {
            place.gate == group.gate
                && place.group == group.name
                && place.rule == rule.name
                && rule.may_apply(direction)
        })
    };
    let kept = group.rules.iter().filter(|rule| !(taken(rule) || open && denies_all(rule)));
    let mut rules: Vec<Rule> = kept.cloned().collect();
    if open && let Some(pattern) = group.rules.iter().find(|rule| denies_all(rule)) {
        let mut allow = pattern.clone();
        allow.access = Some(Access::Allow);
        allow.priority = Some(u32::MAX);
        "let in".clone_into(&mut allow.name);
        rules.push(allow);
    }
    rules
}
