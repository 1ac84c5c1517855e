//! From the resource manager's form to the one that is printed.

use serde_json::{Map, Value, json};

/// How deep a document is followed; what lies deeper stays as it is.
const MAX_DEPTH: usize = 100;

/// What commands drop since their models do not know it: how the command begins, what the holder's identifier says of its type, the
/// field.
const UNKNOWN: &[(&str, &str, &str)] = &[
    ("network nic ", "/networkinterfaces", "kind"),
    ("network nic ", "/networkinterfaces", "allowPort25Out"),
    ("vm nic show", "/networkinterfaces", "kind"),
    ("vm nic show", "/networkinterfaces", "allowPort25Out"),
    ("vm nic show", "/networkinterfaces", "disableTcpStateTracking"),
    ("network nic show-effective-route-table", "", "hasBgpOverride"),
    ("network watcher packet-capture ", "/packetcaptures", "type"),
    ("network private-endpoint list", "/privateendpoints", "resourceGuid"),
    ("network private-dns zone list", "/privatednszones", "resourceGuid"),
    ("network private-dns record-set a list", "/a", "provisioningState"),
    ("monitor activity-log list", "", "channels"),
    ("network list-service-tags", "", "networkFeatures"),
];

/// Takes away what the model of a command does not know.
pub(super) fn known(command: &str, document: &mut Value) {
    let rules: Vec<(&str, &str)> = UNKNOWN
        .iter()
        .filter(|(begin, ..)| command.starts_with(begin))
        .map(|(_, holder, field)| (*holder, *field))
        .collect();
    if !rules.is_empty() {
        dropped(&rules, document);
    }
}

fn dropped(rules: &[(&str, &str)], document: &mut Value) {
    match document {
        Value::Array(list) => list.iter_mut().for_each(|entry| dropped(rules, entry)),
        Value::Object(map) => {
            let kind = map.get("id").and_then(Value::as_str).map(kind).unwrap_or_default();
            map.retain(|name, _| {
                !rules.iter().any(|(holder, field)| name == field && kind.ends_with(holder))
            });
            map.values_mut().for_each(|value| dropped(rules, value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Lifts what lies below `properties` up, at every level; whatever has an id gets its group; nothing stays where nothing is.
pub(super) fn flattened(document: Value) -> Value {
    walked(document, true, MAX_DEPTH)
}

/// Adds the group to whatever has an id, and leaves the rest.
pub(super) fn grouped(document: Value) -> Value {
    walked(document, false, MAX_DEPTH)
}

fn walked(document: Value, lift: bool, left: usize) -> Value {
    if left == 0 {
        return document;
    }
    match document {
        Value::Array(list) => {
            Value::Array(list.into_iter().map(|value| walked(value, lift, left - 1)).collect())
        }
        Value::Object(map) => Value::Object(lifted(map, lift, left - 1)),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn lifted(map: Map<String, Value>, lift: bool, left: usize) -> Map<String, Value> {
    let mut out = Map::new();
    let mut below = None;
    for (name, value) in map {
        match value {
            Value::Null if lift => {}
            Value::Object(inner) if lift && name == "properties" && left > 0 => {
                below = Some(lifted(inner, lift, left - 1))
            }
            value @ (Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)
            | Value::Null) => drop(out.insert(name, walked(value, lift, left))),
        }
    }
    for (name, value) in below.into_iter().flatten() {
        // What stands above keeps its name.
        let taken = out.contains_key(&name);
        match name.as_str() {
            "type" if taken => drop(out.insert("typePropertiesType".to_owned(), value)),
            _ if taken => {}
            _ => drop(out.insert(name, value)),
        }
    }
    let group = out.get("id").and_then(Value::as_str).and_then(group).map(str::to_owned);
    if let Some(group) = group {
        out.insert("resourceGroup".to_owned(), json!(group));
    }
    out
}

/// Returns the type at the end of an identifier, in lower case, after a slash.
fn kind(id: &str) -> String {
    let kind = id.rsplit('/').nth(1).unwrap_or_default();
    format!("/{}", kind.to_ascii_lowercase())
}

/// Returns the group of an identifier.
pub(super) fn group(id: &str) -> Option<&str> {
    let mut segments = id.split('/');
    segments.find(|segment| segment.eq_ignore_ascii_case("resourceGroups"))?;
    segments.next().filter(|group| !group.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_properties_comes_up_at_every_level() {
        let body = json!({"id": "/subscriptions/s/resourceGroups/g/providers/P/t/n", "type": "P/t", "gone": null,
            "properties": {"type": "inner", "list": [{"properties": {"a": 1}}], "ref": {"id": "/x/resourcegroups/h/y"}}});
        let out = json!({"id": "/subscriptions/s/resourceGroups/g/providers/P/t/n", "type": "P/t", "resourceGroup": "g",
            "typePropertiesType": "inner", "list": [{"a": 1}], "ref": {"id": "/x/resourcegroups/h/y", "resourceGroup": "h"}});
        assert_eq!(flattened(body), out);
    }

    #[test]
    fn what_is_grouped_keeps_its_properties() {
        let body = json!({"id": "/resourceGroups/g/x", "properties": {"a": null}});
        assert_eq!(
            grouped(body),
            json!({"id": "/resourceGroups/g/x", "properties": {"a": null}, "resourceGroup": "g"})
        );
    }

    #[test]
    fn odd_documents_do_no_harm() {
        for text in [
            "null",
            "[]",
            "7",
            r#"{"id": 7, "properties": 5}"#,
            r#"{"id": "/resourceGroups/"}"#,
            r#"{"properties": null}"#,
        ] {
            let body: Value = serde_json::from_str(text).unwrap();
            drop(flattened(body));
        }
        let deep = (0..120).fold(json!(1), |inner, _| json!({"properties": inner}));
        drop(flattened(deep));
    }
}
