//! What a plan changes that is not judged.
//!
//! Goes in: the type of a resource, as it was and as it will be. Comes out: whether it can matter to a flow at all, and which of its
//! changed fields that are not read here. Never: a type or a field that is passed over because it is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::documents::body;
use super::terraform::is_later;
use crate::net::Fields as _;
use crate::path::field_letters;

/// Types that cannot matter to a flow, with the reason, and the fields of those that are judged.
const KNOWN: &str = include_str!("known_types.txt");

/// At most this many fields of one resource are named.
const MAX_NAMED: usize = 6;

/// What a plan does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Create,
    Update,
    /// It is deleted, or deleted and made again.
    Delete,
}

/// For which actions a type is known not to matter.
#[derive(Debug, Clone, Copy)]
enum Holds {
    Always,
    UnlessDeleted,
    OnlyCreated,
}

impl Holds {
    const fn covers(self, action: Action) -> bool {
        matches!(
            (self, action),
            (Self::Always, _)
                | (Self::UnlessDeleted, Action::Create | Action::Update)
                | (Self::OnlyCreated, Action::Create)
        )
    }
}

/// The fields of a type that is judged.
#[derive(Debug, Default)]
struct Fields {
    /// Each with the only value for which it holds, if there is one.
    known: Vec<(String, Option<&'static str>)>,
    /// Of a resource that is new no other field counts.
    new_counts_whole: bool,
}

#[derive(Debug, Default)]
struct Table {
    irrelevant: BTreeMap<&'static str, (Holds, &'static str)>,
    fields: BTreeMap<&'static str, Fields>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    let mut reason = None;
    for line in KNOWN.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("#") | None => reason = None,
            Some("=") => reason = line.strip_prefix("= "),
            Some(first) => match reason {
                Some(reason) => {
                    for word in std::iter::once(first).chain(words) {
                        let (holds, kind) = match (word.strip_prefix('!'), word.strip_prefix('+')) {
                            (Some(kind), _) => (Holds::UnlessDeleted, kind),
                            (None, Some(kind)) => (Holds::OnlyCreated, kind),
                            (None, None) => (Holds::Always, word),
                        };
                        table.irrelevant.insert(kind, (holds, reason));
                    }
                }
                None => {
                    let mut fields = Fields::default();
                    for word in words.filter(|word| *word != "|") {
                        match word.split_once('=') {
                            Some((name, value)) => fields.known.push((field_letters(name), Some(value))),
                            None if word == "new" => fields.new_counts_whole = true,
                            None => fields.known.push((field_letters(word), None)),
                        }
                    }
                    table.fields.insert(first, fields);
                }
            },
        }
    }
    table
});

/// Returns why a change of a resource cannot matter to a flow; nothing if it can, or if its type is not known.
pub(super) fn irrelevant(kind: &str, action: Action) -> Option<&'static str> {
    let (holds, reason) = TABLE.irrelevant.get(kind)?;
    holds.covers(action).then_some(*reason)
}

/// Returns the changed fields of a resource that are not read here. A type that is not judged has no field that is read.
pub(super) fn left_over(kind: &str, before: &Value, after: &Value, later: &Value) -> Vec<String> {
    let none = Map::new();
    let maps = [before, after, later].map(|value| value.as_object().unwrap_or(&none));
    let [before_map, after_map, later_map] = maps;
    let read_fields = TABLE.fields.get(kind);
    if before.is_null() && read_fields.is_some_and(|fields| fields.new_counts_whole) {
        return Vec::new();
    }
    let names: BTreeSet<&String> =
        before_map.keys().chain(after_map.keys()).chain(later_map.keys()).collect();
    let is_changed = |name: &str| {
        let (old, new) = (before_map.get(name), after_map.get(name));
        let is_idle = |value: Option<&Value>| value.is_none_or(is_idle);
        is_later(later_map.get(name)) || (old != new && !(is_idle(old) && is_idle(new)))
    };
    let all = TABLE.fields.get("*");
    let is_known = |name: &str| {
        let (name, new) = (field_letters(name), after_map.get(name));
        let mut known = all.into_iter().chain(read_fields).flat_map(|fields| &fields.known);
        known.any(|(known, only)| {
            let fits =
                only.is_none_or(|only| new.is_none_or(|new| new.to_string().trim_matches('"') == only));
            *known == name && fits
        })
    };
    let found = names.into_iter().filter(|name| is_changed(name) && !is_known(name));
    let parts = TABLE.fields.keys().filter_map(|row| row.strip_prefix(kind)?.strip_prefix('.'));
    let inside = parts.flat_map(|list| left_over_inside(kind, list, before, after));
    found.cloned().chain(inside).take(MAX_NAMED).collect()
}

/// Returns the changed fields of the parts of a list that are not read here, as `subnet.delegation`.
fn left_over_inside(kind: &str, list: &str, before: &Value, after: &Value) -> Vec<String> {
    let rows = |value: &Value| value.field(list).and_then(Value::as_array).cloned().unwrap_or_default();
    let olds = rows(before);
    let one = |new: Value| {
        let old = olds.iter().find(|old| old.text("name").is_some() && old.text("name") == new.text("name"));
        let old = old.map_or(Value::Null, |old| body(old).clone());
        left_over(&format!("{kind}.{list}"), &old, body(&new), &Value::Null)
    };
    rows(after).into_iter().flat_map(one).map(|field| format!("{list}.{field}")).collect()
}

/// Tells whether the fields of a type are read.
pub(super) fn is_judged(kind: &str) -> bool {
    TABLE.fields.contains_key(kind)
}

/// Tells whether a plan says that a resource changes, and names no field that does.
pub(super) fn is_said_without_a_field(before: &Value, after: &Value, later: &Value) -> bool {
    before == after && !is_later(Some(later))
}

/// Tells whether a value says nothing.
fn is_idle(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.iter().all(is_idle),
        Value::Object(map) => map.values().all(is_idle),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_type_that_cannot_matter_has_a_reason_and_is_not_judged_as_well() {
        for (kind, (_, reason)) in &TABLE.irrelevant {
            assert!(reason.len() > 15, "{kind}");
            assert!(!TABLE.fields.contains_key(kind), "{kind} is judged and irrelevant");
            assert_eq!(*kind, kind.to_ascii_lowercase());
        }
        assert!(TABLE.fields.len() > 30 && TABLE.irrelevant.len() > 100);
        assert!(irrelevant("azurerm_resource_group", Action::Delete).is_none());
        assert!(irrelevant("azurerm_public_ip", Action::Update).is_none());
    }

    #[test]
    fn a_field_that_is_not_read_is_left_over_and_a_tag_is_not() {
        let (old, new) = (json!({"name": "v", "tags": {"a": "1"}}), json!({"name": "v", "tags": {"a": "2"}}));
        assert!(left_over("azurerm_virtual_network", &old, &new, &Value::Null).is_empty());
        let new = json!({"name": "v", "dns_servers": ["10.0.0.9"]});
        assert_eq!(left_over("azurerm_virtual_network", &old, &new, &Value::Null), ["dns_servers"]);
        let later = json!({"dns_servers": true, "id": true});
        assert_eq!(left_over("azurerm_virtual_network", &old, &old, &later), ["dns_servers"]);
        let new = json!({"name": "t", "bgp_route_propagation_enabled": false});
        assert!(left_over("azurerm_route_table", &json!({"name": "t"}), &new, &Value::Null).is_empty());
        let old = json!({"name": "t", "bgp_route_propagation_enabled": true});
        assert_eq!(
            left_over("azurerm_route_table", &old, &new, &Value::Null),
            ["bgp_route_propagation_enabled"]
        );
    }
}
