//! As much of JSON Schema as the tools use.

use serde_json::Value;

/// Returns what in a value is not as a schema says.
pub(super) fn problems(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(branches) = schema["anyOf"].as_array() {
        let fits = branches.iter().any(|branch| problems(branch, value, at).is_empty());
        found.extend((!fits).then(|| format!("{at}: {value} is none of {branches:?}")));
    }
    if let Some(words) = schema["enum"].as_array() {
        found.extend((!words.contains(value)).then(|| format!("{at}: {value} is none of {words:?}")));
    }
    let is_kind = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some(other) => panic!("{at}: unknown type {other}"),
        None => true,
    };
    found.extend((!is_kind).then(|| format!("{at}: {value} is no {}", schema["type"])));
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        found.extend(value.get(name).is_none().then(|| format!("{at}: there is no {name}")));
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            found.extend(problems(inner, value, &format!("{at}/{name}")));
        }
    }
    if let Some(items) = schema.get("items") {
        for (place, value) in value.as_array().into_iter().flatten().enumerate() {
            found.extend(problems(items, value, &format!("{at}/{place}")));
        }
    }
    found
}
