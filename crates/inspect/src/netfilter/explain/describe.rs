//! Putting an explanation together.

use super::document::{
    Changed, CompareError, Comparison, Differences, Explained, Explanation, OutcomeChange,
};
use super::follow::Follower;
use super::{dead, notable, outcome};
use crate::netfilter::diff::diff;
use crate::netfilter::host::{Document, Host, HostChange, diff_hosts};
use crate::netfilter::layout::{owner, recognize};
use crate::netfilter::ruleset::{Format, Ruleset, Warning};
use crate::netfilter::walk::Hook;

/// How many rules that are not understood are reported.
const MAX_UNKNOWN_RULES: usize = 50;

/// Says what a ruleset or a whole host does with packets.
#[must_use]
pub fn explain(document: &Document) -> Explanation {
    match document {
        Document::Ruleset(ruleset) => {
            let warnings = ruleset.warnings.clone();
            let mut all = together(&[(source(ruleset), ruleset)], ruleset);
            all.warnings = warnings;
            all
        }
        Document::Host(host) => {
            let rulesets: Vec<(&str, &Ruleset)> = host.rulesets().collect();
            let mut all = match rulesets.first() {
                Some((_, first)) => together(&rulesets, first),
                None => nothing(),
            };
            all.framework = Some(host.framework.clone());
            all.snapshot.clone_from(&host.snapshot);
            all.unread = unread(host);
            all.warnings.clone_from(&host.warnings);
            all
        }
    }
}

/// Says what a change does to traffic, and what the rules do now. Nothing where one is a ruleset and the other a host, or where
/// they are of different forms or families.
#[must_use]
pub fn explain_change(before: &Document, after: &Document) -> Option<Explanation> {
    let mut all = explain(after);
    all.change = Some(changed(compare(before, after).ok()?, after, &mut all.unread));
    Some(all)
}

/// Says what differs between two of a kind, and which packets get another verdict.
///
/// # Errors
/// Fails where one is a ruleset and the other a host, or where they are of different forms or families.
pub fn compare(before: &Document, after: &Document) -> Result<Comparison, CompareError> {
    match (before, after) {
        (Document::Ruleset(a), Document::Ruleset(b)) => {
            let found = diff(a, b)?;
            let (traffic, limits) = match found.changes.is_empty() {
                true => Default::default(),
                false => outcome::changes(source(b), a, b),
            };
            Ok(Comparison { found: Differences::Ruleset(found), traffic, limits })
        }
        (Document::Host(a), Document::Host(b)) => {
            let found = diff_hosts(a, b);
            let (traffic, limits) = match found.changes.is_empty() {
                true => Default::default(),
                false => host_traffic(a, b),
            };
            Ok(Comparison { found: Differences::Host(found), traffic, limits })
        }
        (Document::Ruleset(_), Document::Host(_)) | (Document::Host(_), Document::Ruleset(_)) => {
            Err(CompareError::Unlike)
        }
    }
}

fn host_traffic(a: &Host, b: &Host) -> (Vec<OutcomeChange>, Vec<String>) {
    let (mut traffic, mut limits) = (Vec::new(), Vec::new());
    for (source, new) in b.rulesets() {
        let Some((_, old)) = a.rulesets().find(|(other, _)| *other == source) else { continue };
        let (mut old, mut new) = (old.clone(), new.clone());
        if !(a.ipsets_read && b.ipsets_read) {
            // Sets of one side alone would look like a change.
            old.ipsets.clear();
            new.ipsets.clear();
        }
        let (more, open) = outcome::changes(source, &old, &new);
        traffic.extend(more);
        limits.extend(open);
    }
    (traffic, limits)
}

fn changed(found: Comparison, after: &Document, unread: &mut Vec<Warning>) -> Changed {
    let Comparison { found, traffic, limits } = found;
    match (found, after) {
        (Differences::Ruleset(found), after) => {
            let source = match after {
                Document::Ruleset(Ruleset { format: Format::Save, .. }) => "iptables-save",
                Document::Ruleset(_) | Document::Host(_) => "nft",
            };
            Changed {
                drift: found.drift,
                status: found.status,
                critical: found.critical,
                changes: found.changes.into_iter().map(|change| HostChange { source, change }).collect(),
                traffic,
                limits,
                frameworks: None,
            }
        }
        (Differences::Host(found), _) => {
            // What was gathered on neither side is taken from the rules as they are now.
            unread.retain(|warning| {
                let same = Some(warning.place.as_str());
                !found.unread.iter().any(|other| other.place.rsplit(": ").next() == same)
            });
            unread.extend(found.unread.iter().cloned());
            let [before, after] = found.frameworks;
            Changed {
                drift: found.drift,
                status: found.status,
                critical: found.critical,
                changes: found.changes,
                traffic,
                limits,
                frameworks: (before != after).then_some(found.frameworks),
            }
        }
    }
}

/// Returns what could not be read of a host and could hold rules, and what was not gathered.
fn unread(host: &Host) -> Vec<Warning> {
    let mut unread = host.unread.clone();
    for source in &host.absent {
        if !unread.iter().any(|warning| warning.place == *source) {
            unread.push(Warning { place: (*source).to_owned(), what: "was not gathered".to_owned() });
        }
    }
    unread
}

fn together(rulesets: &[(&str, &Ruleset)], first: &Ruleset) -> Explanation {
    let plain: Vec<&Ruleset> = rulesets.iter().map(|(_, ruleset)| *ruleset).collect();
    Explanation {
        layouts: recognize(&plain),
        backends: rulesets
            .iter()
            .filter(|(_, ruleset)| rulesets.len() == 1 || !ruleset.tables.is_empty())
            .map(|(source, ruleset)| one(source, ruleset))
            .filter(|backend| rulesets.len() == 1 || backend.rules > 0 || !backend.hooks.is_empty())
            .collect(),
        jails: notable::jails(plain.iter().copied(), &first.ipsets),
        ..nothing()
    }
}

fn nothing() -> Explanation {
    Explanation {
        framework: None,
        snapshot: None,
        change: None,
        layouts: Vec::new(),
        backends: Vec::new(),
        jails: Vec::new(),
        unread: Vec::new(),
        warnings: Vec::new(),
    }
}

fn one(source: &str, ruleset: &Ruleset) -> Explained {
    let mut follower = Follower::new(ruleset);
    let (mut hooks, mut redirections) = (Vec::new(), Vec::new());
    for hook in [Hook::Input, Hook::Forward, Hook::Output, Hook::Prerouting, Hook::Postrouting] {
        if let Some((outcomes, moved)) = follower.hook(hook) {
            hooks.push(outcomes);
            redirections.extend(moved);
        }
    }
    let mut limits = std::mem::take(&mut follower.limits);
    let found = dead::find(ruleset);
    limits.extend(found.limits);
    let mut unknown = Vec::new();
    for table in &ruleset.tables {
        for chain in &table.chains {
            for rule in chain.rules.iter().filter(|rule| !rule.opaque.is_empty()) {
                unknown.push(format!(
                    "{}/{} rule {}: {}",
                    table.name,
                    chain.name,
                    rule.position,
                    rule.opaque.join(" ")
                ));
            }
        }
    }
    if unknown.len() > MAX_UNKNOWN_RULES {
        limits.push(format!(
            "{} more rules have parts that are not known by name",
            unknown.len() - MAX_UNKNOWN_RULES
        ));
        unknown.truncate(MAX_UNKNOWN_RULES);
    }
    Explained {
        source: source.to_owned(),
        family: ruleset.family.clone(),
        rules: ruleset.rules,
        hooks,
        redirections,
        dead: found.dead,
        // Programs keep chains in store.
        unused: found.unused.into_iter().filter(|place| !in_store(place)).collect(),
        loggers: notable::loggers(ruleset),
        unknown,
        limits,
    }
}

fn in_store(place: &str) -> bool {
    place.split_once('/').is_some_and(|(table, chain)| owner(table, chain).is_some())
}

fn source(ruleset: &Ruleset) -> &'static str {
    match (ruleset.format, ruleset.family.as_str()) {
        (Format::Nft, _) => "nft",
        (Format::Save, "ipv6") => "ip6tables",
        (Format::Save, _) => "iptables",
    }
}
