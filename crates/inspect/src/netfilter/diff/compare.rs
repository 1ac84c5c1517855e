//! Comparing: tables, chains, rules, sets, objects.

use std::collections::{HashMap, HashSet};

use super::change::{Change, Diff, DiffError, Kind, Severity, Status};
use super::impact::{Impact, RulePlace, Shown};
use super::key;
use super::noise;
use super::order::common;
use super::weight::{decides, place_of, stops, touches, weigh};
use crate::netfilter::ruleset::{Chain, Format, Rule, Ruleset, Table};

/// Compares two rulesets.
///
/// # Errors
/// Fails where they are of different forms or for different families.
pub fn diff(a: &Ruleset, b: &Ruleset) -> Result<Diff, DiffError> {
    if a.format != b.format {
        return Err(DiffError::Formats);
    }
    if a.format == Format::Save && a.family != b.family && a.rules > 0 && b.rules > 0 {
        return Err(DiffError::Families);
    }
    let mut comparison = Comparison { a, b, changes: Vec::new(), impact: None };
    comparison.tables();
    let mut changes = comparison.changes;
    noise::mark(&mut changes, a, b);
    let status = Status::of(&changes, !unread(a) && !unread(b));
    Ok(Diff {
        drift: status.drift(),
        status,
        critical: changes.iter().any(|change| change.severity == Severity::Critical),
        changes,
        warnings: a.warnings.iter().chain(&b.warnings).cloned().collect(),
    })
}

/// Whether something of a text was left out.
fn unread(ruleset: &Ruleset) -> bool {
    let left_out =
        ["not understood", "left out", "cut off", "stands outside", "before any table", "another backend"];
    let mut chains = ruleset.tables.iter().flat_map(|table| &table.chains);
    !ruleset.unread.is_empty()
        || chains.any(|chain| !chain.unread.is_empty())
        || ruleset.warnings.iter().any(|warning| left_out.iter().any(|words| warning.what.contains(words)))
}

/// Gives the rules of two chains numbers, equal ones where the content is equal: a text is kept only while it is looked up.
fn numbered(old: &Chain, new: &Chain) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<Box<str>, u32> = HashMap::with_capacity(old.rules.len());
    let mut text = String::new();
    let mut number = |rule: &Rule| {
        text.clear();
        key::write_rule(rule, &mut text);
        if let Some(known) = numbers.get(text.as_str()) {
            return *known;
        }
        // Four thousand million rules are more than a text may hold.
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        numbers.insert(text.as_str().into(), next);
        next
    };
    (old.rules.iter().map(&mut number).collect(), new.rules.iter().map(&mut number).collect())
}

pub(super) struct Comparison<'a> {
    pub(super) a: &'a Ruleset,
    pub(super) b: &'a Ruleset,
    pub(super) changes: Vec<Change>,
    /// Made only where something changed: an equal pair costs nothing.
    impact: Option<Impact>,
}

impl<'a> Comparison<'a> {
    fn tables(&mut self) {
        let (a, b) = (self.a, self.b);
        let named = |tables: &'a [Table], name: &str| tables.iter().find(|table| table.name == name);
        for table in &a.tables {
            match named(&b.tables, &table.name) {
                Some(other) => self.table(table, other),
                None => self.whole_table(Kind::TableRemoved, table, "the table is gone"),
            }
        }
        for table in b.tables.iter().filter(|table| named(&a.tables, &table.name).is_none()) {
            self.whole_table(Kind::TableAdded, table, "the table is new");
        }
    }

    fn whole_table(&mut self, kind: Kind, table: &'a Table, detail: &str) {
        let old = kind == Kind::TableRemoved;
        let mut severity = Severity::Notable;
        for chain in table.chains.iter().filter(|chain| chain.base.is_some()) {
            severity = severity.max(self.whole_chain(table, chain, old));
        }
        self.push(kind, &table.name, None, None, severity, detail.to_owned());
    }

    /// Judges what a chain does that only one side has.
    fn whole_chain(&mut self, table: &'a Table, chain: &'a Chain, old: bool) -> Severity {
        let place = RulePlace { table: &table.name, chain: &chain.name, rule: None };
        let may_stop = || stops(chain.policy.as_deref()) || chain.rules.iter().any(decides);
        let side = |own: &'a Ruleset| Some((own, place));
        let (a, b) = (self.a, self.b);
        let shown = if old { self.show(side(a), None) } else { self.show(None, side(b)) };
        weigh(shown, table.family, may_stop())
    }

    pub(super) fn show(
        &mut self,
        old: Option<(&Ruleset, RulePlace<'_>)>,
        new: Option<(&Ruleset, RulePlace<'_>)>,
    ) -> Shown {
        let (a, b) = (self.a, self.b);
        self.impact.get_or_insert_with(|| Impact::new(a, b)).of(old, new)
    }

    fn table(&mut self, old: &'a Table, new: &'a Table) {
        if old.dormant != new.dormant
            || old.flags.as_ref().map(key::content) != new.flags.as_ref().map(key::content)
        {
            let mut severity = Severity::Notable;
            if old.dormant != new.dormant {
                for chain in new.chains.iter().filter(|chain| chain.base.is_some()) {
                    let place = RulePlace { table: &new.name, chain: &chain.name, rule: None };
                    let shown = self.show(None, Some((self.b, place)));
                    severity = severity.max(weigh(shown, new.family, true));
                }
            }
            self.push(
                Kind::ObjectChanged,
                &new.name,
                None,
                None,
                severity,
                "the flags of the table differ".to_owned(),
            );
        }
        let chain_of = |table: &'a Table, name: &str| table.chains.iter().find(|chain| chain.name == name);
        for chain in &old.chains {
            match chain_of(new, &chain.name) {
                Some(other) => self.chain(old, chain, new, other),
                None => {
                    let severity = self.whole_chain(old, chain, true);
                    let detail = format!("the chain is gone, with {} rules", chain.rules.len());
                    self.push(Kind::ChainRemoved, &old.name, Some(&chain.name), None, severity, detail);
                }
            }
        }
        for chain in new.chains.iter().filter(|chain| chain_of(old, &chain.name).is_none()) {
            let severity = self.whole_chain(new, chain, false);
            let detail = format!("the chain is new, with {} rules", chain.rules.len());
            self.push(Kind::ChainAdded, &new.name, Some(&chain.name), None, severity, detail);
        }
        self.sets(old, new);
        self.objects(old, new);
    }

    fn chain(&mut self, old_table: &'a Table, old: &'a Chain, new_table: &'a Table, new: &'a Chain) {
        let name = &new.name;
        let whole = RulePlace { table: &new_table.name, chain: name, rule: None };
        if old.base != new.base {
            let old_side = Some((self.a, RulePlace { table: &old_table.name, chain: name, rule: None }));
            let shown = self.show(old_side, Some((self.b, whole)));
            let severity = weigh(shown, new_table.family, true);
            let detail =
                format!("hook, priority, type or device differ: {} → {}", place_of(old), place_of(new));
            self.push(Kind::ObjectChanged, &new_table.name, Some(name), None, severity, detail);
        }
        let lower = |chain: &Chain| chain.policy.as_deref().map(str::to_ascii_lowercase);
        if lower(old) != lower(new) {
            let before = old.policy.as_deref().unwrap_or("none");
            let after = new.policy.as_deref().unwrap_or("none");
            let shown = self.show(None, Some((self.b, whole)));
            // A policy is what an operator leans on, even where every packet is decided before it today.
            let severity = weigh(shown, new_table.family, true).max(Severity::Notable);
            self.push(
                Kind::Policy,
                &new_table.name,
                Some(name),
                None,
                severity,
                format!("policy {before} → {after}"),
            );
        }
        self.rules(old, new_table, new);
    }

    fn rules(&mut self, old: &'a Chain, table: &'a Table, new: &'a Chain) {
        let (old_keys, new_keys) = numbered(old, new);
        if old_keys == new_keys {
            return;
        }
        let pairs = common(&old_keys, &new_keys);
        let mut old_kept = vec![false; old_keys.len()];
        let mut new_kept = vec![false; new_keys.len()];
        for (x, y) in pairs {
            if let (Some(x), Some(y)) = (old_kept.get_mut(x), new_kept.get_mut(y)) {
                (*x, *y) = (true, true);
            }
        }
        // What went here and came there is a move.
        let mut gone: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, key) in old_keys.iter().enumerate().rev().filter(|(at, _)| old_kept.get(*at) == Some(&false))
        {
            gone.entry(*key).or_default().push(at);
        }
        let mut moved = vec![false; old_keys.len()];
        let mut found: Vec<(Kind, Option<usize>, Option<usize>)> = Vec::new();
        for (at, key) in new_keys.iter().enumerate().filter(|(at, _)| new_kept.get(*at) == Some(&false)) {
            match gone.get_mut(key).and_then(Vec::pop) {
                Some(from) => {
                    if let Some(moved) = moved.get_mut(from) {
                        *moved = true;
                    }
                    found.push((Kind::RuleMoved, Some(from), Some(at)));
                }
                None => found.push((Kind::RuleAdded, None, Some(at))),
            }
        }
        for at in (0..old_keys.len())
            .filter(|at| old_kept.get(*at) == Some(&false) && moved.get(*at) == Some(&false))
        {
            found.push((Kind::RuleRemoved, Some(at), None));
        }
        let (before, after): (HashSet<u32>, HashSet<u32>) =
            (old_keys.iter().copied().collect(), new_keys.iter().copied().collect());
        for (kind, from, to) in found {
            self.rule(kind, (table, old, new), from, to);
            let key = to.and_then(|at| new_keys.get(at)).or_else(|| from.and_then(|at| old_keys.get(at)));
            let twin = key.is_some_and(|key| before.contains(key) && after.contains(key));
            let rule = to.and_then(|at| new.rules.get(at)).or_else(|| from.and_then(|at| old.rules.get(at)));
            // A copy of a rule that is there before and after, and that no packet notices.
            if let Some(change) = self.changes.last_mut()
                && twin
                && kind != Kind::RuleMoved
                && change.severity == Severity::Notable
                && rule.is_some_and(decides)
            {
                change.severity = Severity::Noise;
            }
        }
    }

    fn rule(
        &mut self,
        kind: Kind,
        (table, old, new): (&'a Table, &'a Chain, &'a Chain),
        from: Option<usize>,
        to: Option<usize>,
    ) {
        let rule = to.and_then(|at| new.rules.get(at)).or_else(|| from.and_then(|at| old.rules.get(at)));
        let Some(rule) = rule else { return };
        let place = |rule| RulePlace { table: &table.name, chain: &new.name, rule: Some(rule) };
        let (a, b) = (self.a, self.b);
        let severity = if touches(rule) {
            let shown = self.show(from.map(|at| (a, place(at))), to.map(|at| (b, place(at))));
            weigh(shown, table.family, decides(rule))
        } else {
            Severity::Notable
        };
        let detail = match (from, to) {
            (Some(from), Some(to)) => format!("position {} → {}", from + 1, to + 1),
            (None, Some(to)) => format!("new at position {}", to + 1),
            (Some(from), None) => format!("gone from position {}", from + 1),
            (None, None) => String::new(),
        };
        self.push(kind, &table.name, Some(&new.name), Some(&rule.raw), severity, detail);
    }

    pub(super) fn push(
        &mut self,
        kind: Kind,
        table: &str,
        chain: Option<&str>,
        rule: Option<&str>,
        severity: Severity,
        detail: String,
    ) {
        let own = |text: Option<&str>| text.map(str::to_owned);
        self.changes.push(Change {
            kind,
            table: table.to_owned(),
            chain: own(chain),
            rule: own(rule),
            severity,
            churn: false,
            detail,
        });
    }
}
