//! What differs between two hosts: every backend, both families, and the sets that rules ask.

use std::collections::BTreeMap;

use serde::Serialize;

use super::view::{Backend, Host, RULES, asks_sets};
use crate::netfilter::diff::{Change, Impact, Kind, RulePlace, Severity, Status, decides, diff, weigh};
use crate::netfilter::ipset::{IpSet, content};
use crate::netfilter::ruleset::{Body, Family, Ruleset, Warning};

/// What differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostDiff {
    /// Whether anything does; absent where the status is inconclusive.
    pub drift: Option<bool>,
    /// The same in one word.
    pub status: Status,
    /// Whether the verdict on some packet can change.
    pub critical: bool,
    /// The framework before and after.
    pub frameworks: [Option<&'static str>; 2],
    /// Every difference, with the backend that it is in.
    pub changes: Vec<HostChange>,
    /// What could not be compared.
    pub unread: Vec<Warning>,
    /// What was odd on either side.
    pub warnings: Vec<Warning>,
    /// The digest of what the rules said before.
    pub baseline_sha256: String,
    /// The digest of what the rules say now.
    pub current_sha256: String,
    /// Whether both sides are snapshots, whose digests fit.
    pub verified: bool,
}

/// A change and where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostChange {
    /// The source of the bundle.
    pub source: &'static str,
    /// The difference in the ruleset of this backend.
    #[serde(flatten)]
    pub change: Change,
}

/// Compares two hosts.
#[must_use]
pub fn diff_hosts(a: &Host, b: &Host) -> HostDiff {
    let mut comparison =
        Comparison { changes: Vec::new(), unread: Vec::new(), warnings: Vec::new(), complete: true };
    for (side, host) in [("before", a), ("after", b)] {
        comparison.unread.extend(host.unread.iter().map(|warning| sided(side, warning)));
        comparison.warnings.extend(host.warnings.iter().map(|warning| sided(side, warning)));
    }
    for source in RULES {
        comparison.source(source, a, b);
    }
    comparison.sets(a, b);
    let Comparison { changes, unread, warnings, complete } = comparison;
    let plain: Vec<Change> = changes.iter().map(|own| own.change.clone()).collect();
    let status = Status::of(&plain, complete && unread.is_empty());
    HostDiff {
        drift: status.drift(),
        status,
        critical: plain.iter().any(|change| change.severity == Severity::Critical),
        frameworks: [a.framework.framework, b.framework.framework],
        changes,
        unread,
        warnings,
        baseline_sha256: a.digest().to_string(),
        current_sha256: b.digest().to_string(),
        verified: a.snapshot.is_some() && b.snapshot.is_some(),
    }
}

fn sided(side: &str, warning: &Warning) -> Warning {
    Warning { place: format!("{side}: {}", warning.place), what: warning.what.clone() }
}

struct Comparison {
    changes: Vec<HostChange>,
    unread: Vec<Warning>,
    warnings: Vec<Warning>,
    complete: bool,
}

impl Comparison {
    fn source(&mut self, source: &'static str, a: &Host, b: &Host) {
        let of = |host: &Host| host.backends.iter().find(|backend| backend.source == source).cloned();
        let (old, new) = (of(a), of(b));
        let (old, new) = match (old, new) {
            (None, None) => {
                self.warnings.push(Warning {
                    place: source.to_owned(),
                    what: "was gathered on neither side: not compared".to_owned(),
                });
                return;
            }
            (Some(old), Some(new)) => (old, new),
            (None, Some(_)) => return self.missing(source, "before"),
            (Some(_), None) => return self.missing(source, "after"),
        };
        let sides = match (rules(&old, a), rules(&new, b)) {
            (Some(x), Some(y)) => Some((without(x, &new.mirrors), without(y, &old.mirrors))),
            _ => None,
        };
        // A source that could not be read is reported elsewhere, where it could hold anything.
        let Some((x, y)) = sides else {
            if old.ruleset.is_some() || new.ruleset.is_some() {
                self.complete = false;
                let place = source.to_owned();
                if !self.unread.iter().any(|warning| warning.place.ends_with(source)) {
                    self.unread.push(Warning { place, what: "could be read on one side alone".to_owned() });
                }
            }
            return;
        };
        match diff(&x, &y) {
            Ok(found) => {
                self.complete &= found.status != Status::Inconclusive;
                self.changes.extend(found.changes.into_iter().map(|change| HostChange { source, change }));
            }
            Err(error) => {
                self.unread.push(Warning { place: source.to_owned(), what: error.to_string() });
            }
        }
    }

    fn missing(&mut self, source: &'static str, side: &str) {
        let what = format!("was not gathered {side}");
        self.unread.push(Warning { place: source.to_owned(), what });
    }

    fn sets(&mut self, a: &Host, b: &Host) {
        if !(a.ipsets_read && b.ipsets_read) {
            let asked = a.rulesets().chain(b.rulesets()).any(|(_, ruleset)| asks_sets(ruleset));
            let named = self.unread.iter().any(|warning| warning.place.ends_with("ipset"));
            if asked && !named {
                let what = "rules ask sets that were not gathered on both sides".to_owned();
                self.unread.push(Warning { place: "ipset".to_owned(), what });
            }
            return;
        }
        let by_name = |host: &Host| -> BTreeMap<String, IpSet> {
            host.ipsets.iter().map(|set| (set.name.clone(), set.clone())).collect()
        };
        let (old, new) = (by_name(a), by_name(b));
        let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            match (old.get(name), new.get(name)) {
                (Some(_), None) => {
                    let severity = judge(name, a, b);
                    self.set(Kind::SetRemoved, severity, false, format!("the set {name} is gone"));
                }
                (None, Some(set)) => {
                    let severity = judge(name, a, b);
                    let detail = format!("the set {name} is new, with {} elements", set.members.len());
                    self.set(Kind::SetAdded, severity, false, detail);
                }
                (Some(x), Some(y)) => self.members(x, y, a, b),
                (None, None) => {}
            }
        }
    }

    fn members(&mut self, old: &IpSet, new: &IpSet, a: &Host, b: &Host) {
        if old.kind != new.kind || old.options != new.options {
            let detail = format!("type or options of the set {} differ", new.name);
            self.set(Kind::ObjectChanged, judge(&new.name, a, b), false, detail);
        }
        // What ends is churn; `timeout 0` is for good.
        let all = |set: &IpSet| -> BTreeMap<String, bool> {
            let ends = |timeout: Option<u64>| timeout.is_some_and(|seconds| seconds > 0);
            set.members.iter().map(|member| (content(member), ends(member.timeout))).collect()
        };
        let (before, after) = (all(old), all(new));
        let came: Vec<_> = after.iter().filter(|(element, _)| !before.contains_key(*element)).collect();
        let went: Vec<_> = before.iter().filter(|(element, _)| !after.contains_key(*element)).collect();
        let severity = if came.iter().chain(&went).any(|(_, churn)| !**churn) {
            judge(&new.name, a, b)
        } else {
            Severity::Noise
        };
        for (element, churn) in came {
            self.set(Kind::ElementAdded, severity, *churn, format!("the set {} has {element} now", new.name));
        }
        for (element, churn) in went {
            self.set(
                Kind::ElementRemoved,
                severity,
                *churn,
                format!("the set {} has {element} no more", new.name),
            );
        }
    }

    fn set(&mut self, kind: Kind, severity: Severity, churn: bool, detail: String) {
        let severity = if churn { Severity::Noise } else { severity };
        let change =
            Change { kind, table: "ipset".to_owned(), chain: None, rule: None, severity, churn, detail };
        self.changes.push(HostChange { source: "ipset", change });
    }
}

/// Returns the rules of a source; one that is proven to hold none has none.
fn rules(backend: &Backend, host: &Host) -> Option<Ruleset> {
    if let Some(ruleset) = &backend.ruleset {
        return Some(ruleset.clone());
    }
    let legacy = backend.source.ends_with("-legacy");
    let unread = host.unread.iter().any(|warning| warning.place == backend.source);
    (legacy && !unread).then(|| Ruleset {
        format: crate::netfilter::Format::Save,
        family: if backend.source.starts_with("ip6") { "ipv6" } else { "ipv4" }.to_owned(),
        framework: None,
        about: None,
        tables: Vec::new(),
        ipsets: host.ipsets.clone(),
        rules: 0,
        opaque_rules: 0,
        unread: Vec::new(),
        cut_off: false,
        warnings: Vec::new(),
    })
}

/// What one side shows with all its parts elsewhere is not compared with what the other side shows here.
fn without(mut ruleset: Ruleset, mirrors: &[String]) -> Ruleset {
    ruleset.tables.retain(|table| !mirrors.contains(&table.name));
    ruleset
}

/// Judges the packets that reach a rule which asks a set, with the elements of either side.
fn judge(name: &str, a: &Host, b: &Host) -> Severity {
    let mut asked = vec![name.to_owned()];
    for set in a.ipsets.iter().chain(&b.ipsets).filter(|set| set.kind == "list:set") {
        if set.members.iter().any(|member| member.value == name) {
            asked.push(set.name.clone());
        }
    }
    let mut severity = Severity::Notable;
    for (source, x) in a.rulesets() {
        let Some((_, y)) = b.rulesets().find(|(other, _)| *other == source) else { continue };
        if !asks_sets(x) && !asks_sets(y) {
            continue;
        }
        let mut impact = Impact::new(x, y);
        for (ruleset, old) in [(x, true), (y, false)] {
            for table in &ruleset.tables {
                for chain in &table.chains {
                    for (at, rule) in chain.rules.iter().enumerate() {
                        let Body::Save(parts) = &rule.body else { continue };
                        let asks = |part: &crate::netfilter::Part| {
                            part.name == "--match-set"
                                && part
                                    .values
                                    .first()
                                    .is_some_and(|own| asked.iter().any(|set| own == set.as_str()))
                        };
                        if !parts.iter().any(asks) {
                            continue;
                        }
                        let place = RulePlace { table: &table.name, chain: &chain.name, rule: Some(at) };
                        let shown = if old {
                            impact.of(Some((x, place)), None)
                        } else {
                            impact.of(None, Some((y, place)))
                        };
                        severity = severity.max(weigh(shown, Family::Ip, decides(rule)));
                        if severity == Severity::Critical {
                            return severity;
                        }
                    }
                }
            }
        }
    }
    severity
}
