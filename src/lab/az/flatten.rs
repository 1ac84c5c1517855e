//! From the resource manager's form to the one that is printed.

use serde_json::{Map, Value, json};

/// Lifts what lies below `properties` up, at every level; whatever has an id gets its group.
pub(super) fn flattened(document: Value) -> Value {
    match document {
        Value::Array(list) => Value::Array(list.into_iter().map(flattened).collect()),
        Value::Object(map) => Value::Object(lifted(map)),
        other => other,
    }
}

fn lifted(map: Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in map {
        match value {
            Value::Null => {}
            Value::Object(inner) if name == "properties" => {
                for (name, value) in lifted(inner) {
                    // What has a name already keeps it.
                    let name = if out.contains_key(&name) && name == "type" {
                        "typePropertiesType".to_owned()
                    } else {
                        name
                    };
                    out.insert(name, value);
                }
            }
            value => {
                out.insert(name, flattened(value));
            }
        }
    }
    let group = out.get("id").and_then(Value::as_str).and_then(group).map(str::to_owned);
    if let Some(group) = group {
        out.insert("resourceGroup".to_owned(), json!(group));
    }
    out
}

/// Returns the group of an identifier.
fn group(id: &str) -> Option<&str> {
    let mut segments = id.split('/');
    segments.find(|segment| segment.eq_ignore_ascii_case("resourceGroups"))?;
    segments.next().filter(|group| !group.is_empty())
}
