//! What `nft -j list ruleset` would print.

use serde_json::{Map, Value, json};

use crate::netfilter::ruleset::{Body, Chain, Object, Rule, Ruleset, Set, Table};

/// Writes a ruleset: tables, chains, objects, sets, rules, so that whatever is named is there already.
pub(in crate::netfilter) fn print(ruleset: &Ruleset) -> String {
    let about = ruleset.about.clone().unwrap_or_else(|| json!({ "json_schema_version": 1 }));
    let mut list = vec![json!({ "metainfo": about })];
    for table in &ruleset.tables {
        let family = table.name.split(' ').next().unwrap_or_default();
        list.push(one("table", table_body(table, family)));
        list.extend(table.chains.iter().map(|one_chain| one("chain", chain(one_chain, table, family))));
        list.extend(table.objects.iter().map(|object| other(object)));
        list.extend(table.sets.iter().map(set));
        for chain in &table.chains {
            list.extend(chain.rules.iter().map(|each| one("rule", rule(each, chain, table, family))));
        }
    }
    json!({ "nftables": list }).to_string()
}

fn one(kind: &str, body: Map<String, Value>) -> Value {
    Value::Object(Map::from_iter([(kind.to_owned(), Value::Object(body))]))
}

/// Begins with what is not typed.
fn rest(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

fn table_body(table: &Table, family: &str) -> Map<String, Value> {
    let mut body = rest(table.rest.as_ref());
    body.insert("family".to_owned(), family.into());
    body.insert("name".to_owned(), table.bare().into());
    if let Some(flags) = &table.flags {
        body.insert("flags".to_owned(), flags.clone());
    }
    body
}

fn chain(chain: &Chain, table: &Table, family: &str) -> Map<String, Value> {
    let mut body = rest(chain.rest.as_ref());
    body.insert("family".to_owned(), family.into());
    body.insert("table".to_owned(), table.bare().into());
    body.insert("name".to_owned(), chain.name.as_str().into());
    if let Some(base) = &chain.base {
        body.insert("type".to_owned(), base.kind.as_str().into());
        body.insert("hook".to_owned(), base.hook.as_str().into());
        body.insert("prio".to_owned(), base.priority.into());
        if let Some(device) = &base.device {
            body.insert("dev".to_owned(), device.clone());
        }
        if let Some(policy) = &chain.policy {
            body.insert("policy".to_owned(), policy.as_str().into());
        }
    }
    body
}

fn rule(rule: &Rule, chain: &Chain, table: &Table, family: &str) -> Map<String, Value> {
    let mut body = rest(rule.rest.as_ref());
    body.insert("family".to_owned(), family.into());
    body.insert("table".to_owned(), table.bare().into());
    body.insert("chain".to_owned(), chain.name.as_str().into());
    if let Some(handle) = rule.handle {
        body.insert("handle".to_owned(), handle.into());
    }
    if let Some(comment) = &rule.comment {
        body.insert("comment".to_owned(), comment.as_str().into());
    }
    if let Body::Nft(expressions) = &rule.body {
        body.insert("expr".to_owned(), Value::Array(expressions.clone()));
    }
    body
}

fn set(set: &Set) -> Value {
    let mut body = rest(Some(&set.about));
    if !set.elements.is_empty() {
        body.insert("elem".to_owned(), Value::Array(set.elements.clone()));
    }
    one(if set.is_map { "map" } else { "set" }, body)
}

fn other(object: &Object) -> Value {
    one(&object.kind, rest(Some(&object.about)))
}
