//! What comes and goes by itself: elements that end, chains that stand for one workload.

use crate::netfilter::json::Value;

use super::change::{Change, Kind, Severity};
use crate::netfilter::layout::{is_ephemeral, owner};
use crate::netfilter::ruleset::{Body, Rule, Ruleset, Set};
use crate::netfilter::text::Text;

/// Marks the changes that a program makes and takes back all day.
pub(super) fn mark(changes: &mut [Change], a: &Ruleset, b: &Ruleset) {
    for change in changes.iter_mut().filter(|change| !change.churn) {
        let Some(chain) = change.chain.as_deref() else { continue };
        let churns = match change.kind {
            Kind::ChainAdded => is_ephemeral(&change.table, chain) && !stops(b, &change.table, chain),
            Kind::ChainRemoved => is_ephemeral(&change.table, chain),
            Kind::RuleAdded | Kind::RuleRemoved | Kind::RuleMoved => {
                let raw = change.rule.as_deref().unwrap_or_default();
                let rule = [b, a].into_iter().find_map(|side| rule(side, &change.table, chain, raw));
                rule.is_some_and(|rule| churned(rule, &change.table, chain))
            }
            Kind::Policy
            | Kind::TableAdded
            | Kind::TableRemoved
            | Kind::SetAdded
            | Kind::SetRemoved
            | Kind::ElementAdded
            | Kind::ElementRemoved
            | Kind::ObjectChanged => false,
        };
        if churns {
            change.churn = true;
            change.severity = Severity::Noise;
        }
    }
}

/// Whether an element goes by itself, or packets put it there.
pub(super) fn is_volatile(set: &Set, element: &Value) -> bool {
    let element = match element.as_array() {
        Some([key, _]) if set.is_map => key,
        _ => element,
    };
    let ends = |name: &str| element.get("elem").and_then(|element| element.get(name)).is_some();
    set.volatile || ends("expires") || ends("timeout")
}

/// A rule in a chain of one workload, or one of the same program that leads there. One that stops packets is never only that.
fn churned(rule: &Rule, table: &str, chain: &str) -> bool {
    let Some(program) = owner(table, chain) else { return false };
    let targets = targets(rule);
    if targets.iter().any(|target| matches!(target.as_str(), "DROP" | "REJECT" | "drop" | "reject")) {
        return false;
    }
    is_ephemeral(table, chain)
        || targets.iter().any(|target| is_ephemeral(table, target) && owner(table, target) == Some(program))
}

/// Whether a chain of one service or endpoint stops packets: what makes those never does.
fn stops(ruleset: &Ruleset, table: &str, chain: &str) -> bool {
    if !["KUBE-SEP-", "KUBE-SVC-", "KUBE-EXT-", "CNI-DN-", "CNI-SN-"]
        .iter()
        .any(|start| chain.starts_with(start))
    {
        return false;
    }
    rules(ruleset, table, chain)
        .any(|rule| targets(rule).iter().any(|target| matches!(target.as_str(), "DROP" | "REJECT")))
}

fn rules<'a>(ruleset: &'a Ruleset, table: &'a str, chain: &'a str) -> impl Iterator<Item = &'a Rule> {
    let tables = ruleset.tables.iter().filter(move |own| own.name == table);
    tables.flat_map(|own| &own.chains).filter(move |own| own.name == chain).flat_map(|own| &own.rules)
}

fn rule<'a>(ruleset: &'a Ruleset, table: &'a str, chain: &'a str, raw: &str) -> Option<&'a Rule> {
    // Only chains of programs are looked into: a long chain of anybody else costs nothing.
    owner(table, chain)?;
    rules(ruleset, table, chain).find(|rule| rule.raw == raw)
}

/// Returns where a rule leads.
fn targets(rule: &Rule) -> Vec<String> {
    match &rule.body {
        Body::Save(parts) => parts
            .iter()
            .filter(|part| matches!(part.name.as_str(), "-j" | "-g"))
            .filter_map(|part| part.values.first().map(Text::to_string))
            .collect(),
        Body::Nft(expressions) => {
            let mut found = Vec::new();
            expressions.iter().for_each(|expression| leads(expression, &mut found));
            found
        }
    }
}

fn leads(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match (key.as_str(), value.get("target").and_then(Value::as_str)) {
                    ("drop" | "reject", _) => found.push(key.to_string()),
                    ("jump" | "goto", Some(target)) => found.push(target.to_owned()),
                    _ => leads(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| leads(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
