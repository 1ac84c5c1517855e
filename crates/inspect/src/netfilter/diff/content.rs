//! Comparing what is in a table beside its chains: sets, their elements, objects.

use std::collections::BTreeMap;

use super::change::{Kind, Severity};
use super::compare::Comparison;
use super::impact::RulePlace;
use super::key;
use super::noise::is_volatile;
use super::weight::{decides, weigh};
use crate::netfilter::ruleset::{Body, Set, Table};

/// Returns the set that stands for one on the other side: of several with its name the one that comes as late.
fn twin<'s>(own: &[Set], at: usize, others: &'s [Set]) -> Option<&'s Set> {
    let name = &own.get(at)?.name;
    let before = own.iter().take(at).filter(|set| set.name == *name).count();
    others.iter().filter(|other| other.name == *name).nth(before)
}

impl<'a> Comparison<'a> {
    pub(super) fn sets(&mut self, old: &'a Table, new: &'a Table) {
        for (at, set) in old.sets.iter().enumerate() {
            let Some(other) = twin(&old.sets, at, &new.sets) else {
                let severity = self.users(&set.name, old, true);
                self.push(
                    Kind::SetRemoved,
                    &old.name,
                    None,
                    None,
                    severity,
                    format!("the set {} is gone", set.name),
                );
                continue;
            };
            if set.is_map != other.is_map || key::object(&set.about) != key::object(&other.about) {
                let severity = self.users(&set.name, new, false);
                let detail = format!("type or flags of the set {} differ", set.name);
                self.push(Kind::ObjectChanged, &new.name, None, None, severity, detail);
            }
            let count = |set: &Set| {
                set.elements
                    .iter()
                    .map(|element| (key::member(element), is_volatile(set, element)))
                    .collect::<BTreeMap<_, _>>()
            };
            let (before, after) = (count(set), count(other));
            let added = after.iter().filter(|(element, _)| !before.contains_key(*element));
            let removed = before.iter().filter(|(element, _)| !after.contains_key(*element));
            let (added, removed) = (added.collect::<Vec<_>>(), removed.collect::<Vec<_>>());
            // Judging costs something; what comes and goes by itself is not judged.
            let severity = if added.iter().chain(&removed).any(|(_, volatile)| !**volatile) {
                self.users(&set.name, new, false).max(self.users(&set.name, old, true))
            } else {
                Severity::Noise
            };
            for (element, volatile) in added {
                let detail = format!("the set {} has {element} now", set.name);
                self.element(Kind::ElementAdded, &new.name, *volatile, severity, detail);
            }
            for (element, volatile) in removed {
                let detail = format!("the set {} has {element} no more", set.name);
                self.element(Kind::ElementRemoved, &new.name, *volatile, severity, detail);
            }
        }
        let fresh = new.sets.iter().enumerate().filter(|(at, _)| twin(&new.sets, *at, &old.sets).is_none());
        for (_, set) in fresh {
            let severity = self.users(&set.name, new, false);
            self.push(
                Kind::SetAdded,
                &new.name,
                None,
                None,
                severity,
                format!("the set {} is new", set.name),
            );
        }
    }

    /// Judges the packets that reach a rule which uses a set.
    fn users(&mut self, set: &str, table: &'a Table, old: bool) -> Severity {
        let wanted = format!("\"@{set}\"");
        let mut severity = Severity::Notable;
        for chain in &table.chains {
            for (at, rule) in chain.rules.iter().enumerate() {
                let Body::Nft(expressions) = &rule.body else { continue };
                if !expressions.iter().any(|expression| expression.to_string().contains(&wanted)) {
                    continue;
                }
                let place = RulePlace { table: &table.name, chain: &chain.name, rule: Some(at) };
                // With another set the rule concerns other packets: those of either side.
                let (a, b) = (self.a, self.b);
                let shown =
                    if old { self.show(Some((a, place)), None) } else { self.show(None, Some((b, place))) };
                severity = severity.max(weigh(shown, table.family, decides(rule)));
            }
        }
        severity
    }

    /// Compares objects of the same kind and name. What has no name can be there more than once: then what is equal is taken away first.
    pub(super) fn objects(&mut self, old: &'a Table, new: &'a Table) {
        let mut met: BTreeMap<(&str, &str), BTreeMap<String, i64>> = BTreeMap::new();
        let both =
            old.objects.iter().map(|object| (object, -1)).chain(new.objects.iter().map(|object| (object, 1)));
        for (object, step) in both {
            let found = met.entry((&object.kind, &object.name)).or_default();
            *found.entry(key::object(&object.about)).or_default() += step;
        }
        for ((kind, name), found) in met {
            let gone: i64 = found.values().map(|more| (-more).max(0)).sum();
            let come: i64 = found.values().map(|more| (*more).max(0)).sum();
            let outcomes = [("differs", gone.min(come)), ("is gone", gone - come), ("is new", come - gone)];
            for (outcome, times) in outcomes {
                for _ in 0..times {
                    let detail = if name.is_empty() {
                        format!("{kind} {outcome}")
                    } else {
                        format!("{kind} {name} {outcome}")
                    };
                    self.push(Kind::ObjectChanged, &new.name, None, None, Severity::Notable, detail);
                }
            }
        }
    }

    /// Tells an element that came or went.
    fn element(&mut self, kind: Kind, table: &str, volatile: bool, severity: Severity, detail: String) {
        let severity = if volatile { Severity::Noise } else { severity };
        self.push(kind, table, None, None, severity, detail);
        if let Some(change) = self.changes.last_mut() {
            change.churn = volatile;
        }
    }
}
