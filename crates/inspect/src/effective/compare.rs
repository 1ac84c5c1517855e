//! Compares two sides.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::matching::{RowOutcome, churn, outcomes};
use super::nic::{Nic, State};
use super::row::{Part, Row};
use super::side::Side;
use super::{Category, Change, Comparison, Kind, NicError, Remark, RemarkKind, Status, Which};

/// How many prefixes of a service tag a remark names.
const MAX_NAMED_PREFIXES: usize = 5;

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether a service tag that stands for other prefixes is reported and not counted.
    pub ignore_tag_churn: bool,
}

impl Side {
    /// Says what changed from this side to a later one.
    #[must_use]
    pub fn compare(&self, after: &Self, options: Options) -> Comparison {
        let mut found = CompareResult { options, ..CompareResult::default() };
        found.states(&self.state, &after.state);
        found
            .changes
            .sort_by(|a, b| (&a.nic, a.category, &a.key, a.kind).cmp(&(&b.nic, b.category, &b.key, b.kind)));
        found.remarks.sort_unstable();
        let mut nic_errors = NicError::all(&self.state, Which::Baseline);
        nic_errors.extend(NicError::all(&after.state, Which::Current));
        let status = match (found.changes.is_empty(), nic_errors.is_empty()) {
            (false, _) => Status::Drift,
            (true, true) => Status::Clean,
            (true, false) => Status::Inconclusive,
        };
        Comparison {
            status,
            drift_detected: status.drift(),
            changes: found.changes,
            nic_errors,
            remarks: found.remarks,
            nics: found.nics,
            baseline_sha256: self.digest.to_string(),
            current_sha256: after.digest.to_string(),
            verified: self.is_verified() && after.is_verified(),
        }
    }
}

#[derive(Default)]
struct CompareResult {
    options: Options,
    nics: Vec<String>,
    changes: Vec<Change>,
    remarks: Vec<Remark>,
}

impl CompareResult {
    fn states(&mut self, before: &State, after: &State) {
        for (key, nic) in &before.nics {
            match after.nics.get(key) {
                Some(later) => self.nic(nic, later),
                None if after.lists_all() => self.changes.push(whole(nic, key, Kind::Removed)),
                None => {}
            }
        }
        let come = after.nics.iter().filter(|(key, _)| !before.nics.contains_key(*key));
        if before.lists_all() {
            self.changes.extend(come.map(|(key, nic)| whole(nic, key, Kind::Added)));
        }
    }

    fn nic(&mut self, before: &Nic, after: &Nic) {
        self.nics.push(after.name.clone());
        let first = self.changes.len();
        for (old, new) in [(&before.routes, &after.routes), (&before.rules, &after.rules)] {
            let certain = Certain { before: before.has_whole(old), after: after.has_whole(new) };
            self.part(&after.name, old, new, certain);
        }
        if let Some(fresh) = self.changes.get_mut(first..) {
            tell_moves(fresh, before, after);
        }
    }

    fn part(&mut self, nic: &str, before: &Part, after: &Part, certain: Certain) {
        let mut asides: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
        for outcome in outcomes(before, after) {
            match outcome {
                RowOutcome::Same(a, b) => {
                    for ((field, old), (_, new)) in
                        a.details.aside.iter().zip(&b.details.aside).filter(|(old, new)| old.1 != new.1)
                    {
                        asides.entry((field, old, new)).or_default().push(&b.key);
                    }
                }
                RowOutcome::Expanded(a, b) => self.expanded(nic, a, b, certain),
                RowOutcome::Changed(a, b) if certain.before || certain.after => {
                    let fields = a.differing(b);
                    self.changes.push(Change { fields, ..change(nic, Kind::Changed, Some(a), Some(b)) });
                }
                RowOutcome::Removed(row) if certain.after => {
                    self.changes.push(change(nic, Kind::Removed, Some(row), None));
                }
                RowOutcome::Added(row) if certain.before => {
                    self.changes.push(change(nic, Kind::Added, None, Some(row)));
                }
                // What was not read may hold the row.
                RowOutcome::Changed(..) | RowOutcome::Removed(_) | RowOutcome::Added(_) => {}
            }
        }
        for ((field, old, new), keys) in asides {
            let word = |text: &str| if text.is_empty() { "nothing".to_owned() } else { format!("`{text}`") };
            let count = match keys.len() {
                1 => String::new(),
                more => format!(", on {more} routes"),
            };
            self.remarks.push(Remark {
                nic: nic.to_owned(),
                kind: RemarkKind::RouteAside,
                key: keys.first().map(|key| (*key).to_owned()).unwrap_or_default(),
                what: format!("{field}: {} → {}{count}", word(old), word(new)),
            });
        }
    }

    /// A row whose words are the same, and stand for something else or were resolved on one side only.
    fn expanded(&mut self, nic: &str, a: &Row, b: &Row, certain: Certain) {
        let remark = |kind, what| Remark { nic: nic.to_owned(), kind, key: b.key.clone(), what };
        let Some((gone, come)) = churn(a, b) else {
            if a.details.tagged {
                let what =
                    "what its names stand for is known on one side only, and was not compared".to_owned();
                self.remarks.push(remark(RemarkKind::TagUntold, what));
            }
            return;
        };
        let what = format!("what its names stand for changed: {}; {}", few("gone", &gone), few("new", &come));
        if a.details.tagged {
            self.remarks.push(remark(RemarkKind::TagChurn, what));
        }
        let counts = !(a.details.tagged && self.options.ignore_tag_churn);
        if counts && (certain.before || certain.after) {
            let mut change = change(nic, Kind::Changed, Some(a), Some(b));
            change.fields = vec!["expansion"];
            for (shown, own) in [(&mut change.before, gone), (&mut change.after, come)] {
                if let Value::Object(map) = shown {
                    map.insert("expanded_only_here".to_owned(), json!(own));
                }
            }
            self.changes.push(change);
        }
    }
}

/// Whether all of an answer was read, on either side.
#[derive(Clone, Copy)]
struct Certain {
    before: bool,
    after: bool,
}

fn few(what: &str, prefixes: &BTreeSet<&str>) -> String {
    let named: Vec<&str> = prefixes.iter().take(MAX_NAMED_PREFIXES).copied().collect();
    let more = prefixes.len().saturating_sub(MAX_NAMED_PREFIXES);
    match (named.is_empty(), more) {
        (true, _) => format!("nothing {what}"),
        (false, 0) => format!("{what} {}", named.join(", ")),
        (false, more) => format!("{what} {} and {more} more", named.join(", ")),
    }
}

fn change(nic: &str, kind: Kind, before: Option<&Row>, after: Option<&Row>) -> Change {
    let shown = |row: Option<&Row>| row.map_or(Value::Null, |row| row.shown());
    let row = after.or(before);
    Change {
        nic: nic.to_owned(),
        category: row.map_or(Category::Nic, |row| row.details.category),
        kind,
        key: row.map(|row| row.key.clone()).unwrap_or_default(),
        before: shown(before),
        after: shown(after),
        fields: Vec::new(),
        moved: None,
    }
}

/// A network interface that came or went.
fn whole(nic: &Nic, key: &str, kind: Kind) -> Change {
    let shown = json!({ "nic": nic.name, "routes": nic.routes.rows.len(), "rules": nic.rules.rows.len() });
    let (before, after) = match kind {
        Kind::Removed => (shown, Value::Null),
        Kind::Added | Kind::Changed => (Value::Null, shown),
    };
    Change { before, after, key: format!("nic/{key}"), ..change(&nic.name, kind, None, None) }
}

/// Tells of a rule that went at one place and came at another that it is the same one.
fn tell_moves(changes: &mut [Change], before: &Nic, after: &Nic) {
    let rows = |nic: &Nic| -> BTreeMap<String, (String, String)> {
        let row = |row: &Row| {
            let place = row.details.place.as_ref()?;
            let content: Vec<&str> = row.details.content.iter().map(|(_, value)| value.as_str()).collect();
            Some((row.key.clone(), (format!("{} {}", place.identity, content.join("|")), place.name.clone())))
        };
        nic.rules.rows.iter().filter_map(row).collect()
    };
    if !changes.iter().any(|change| change.category == Category::SecurityRule && change.kind != Kind::Changed)
    {
        return;
    }
    let (old, new) = (rows(before), rows(after));
    let mut went: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut pairs = Vec::new();
    for (at, change) in changes.iter().enumerate().filter(|(_, change)| change.kind == Kind::Removed) {
        if let Some((what, _)) = old.get(&change.key) {
            went.entry(what).or_default().push(at);
        }
    }
    for (at, change) in changes.iter().enumerate().filter(|(_, change)| change.kind == Kind::Added) {
        let Some((what, to)) = new.get(&change.key) else { continue };
        let Some(gone) = went.get_mut(what.as_str()).and_then(Vec::pop) else { continue };
        let from = changes.get(gone).and_then(|gone| old.get(&gone.key)).map(|(_, from)| from.clone());
        pairs.push((gone, at, from.unwrap_or_default(), to.clone()));
    }
    for (gone, come, from, to) in pairs {
        if let Some(change) = changes.get_mut(gone) {
            change.moved = Some(format!("to {to}"));
        }
        if let Some(change) = changes.get_mut(come) {
            change.moved = Some(format!("from {from}"));
        }
    }
}
