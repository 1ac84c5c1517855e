//! The part of JSON Schema that Gemini documents.
//!
//! Tools are declared with `parametersJsonSchema`, which takes JSON Schema as it is written elsewhere: lists of types,
//! `additionalProperties`, lower-case type names. The older `parameters` takes a subset of OpenAPI 3.0 without them and
//! refuses the whole request over an unknown word. Words outside of the documented list are left out here; they narrow a
//! value further, and our own check of the arguments does that anyway.

use serde_json::{Map, Value};

/// Words whose value is kept as it is.
const PLAIN: [&str; 12] = [
    "type",
    "title",
    "description",
    "enum",
    "format",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "required",
    "propertyOrdering",
    "$anchor",
];

/// Words that hold one schema.
const ONE: [&str; 2] = ["items", "additionalProperties"];

/// Words that hold a list of schemas.
const LIST: [&str; 3] = ["anyOf", "oneOf", "prefixItems"];

/// Formats that are described; others, such as `uint32`, are left out.
const FORMATS: [&str; 9] =
    ["date-time", "date", "time", "duration", "enum", "int32", "int64", "float", "double"];

/// Returns a schema with the documented words only.
pub(super) fn documented(schema: &Value) -> Value {
    let Value::Object(schema) = schema else {
        return schema.clone();
    };
    let mut kept = Map::new();
    for (word, value) in schema {
        let word = word.as_str();
        if word == "format" && !value.as_str().is_some_and(|format| FORMATS.contains(&format)) {
            continue;
        }
        if PLAIN.contains(&word) {
            kept.insert(word.to_owned(), value.clone());
        } else if ONE.contains(&word) {
            kept.insert(word.to_owned(), documented(value));
        } else if LIST.contains(&word) {
            let list = value.as_array().map(|list| list.iter().map(documented).collect());
            kept.insert(word.to_owned(), list.unwrap_or_else(|| value.clone()));
        } else if word == "properties" {
            kept.insert(word.to_owned(), properties(value));
        } else if word == "const" {
            kept.insert("enum".to_owned(), Value::Array(vec![value.clone()]));
        }
    }
    Value::Object(kept)
}

/// The keys below `properties` are names of the tool's own, not words.
fn properties(value: &Value) -> Value {
    match value.as_object() {
        Some(all) => all.iter().map(|(name, schema)| (name.clone(), documented(schema))).collect(),
        None => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_that_are_not_documented_are_left_out() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "pattern": "^a", "minLength": 1, "default": "a" },
                "count": { "type": ["integer", "null"], "format": "uint32", "minimum": 0 },
                "at": { "type": "string", "format": "date-time" },
                "kind": { "anyOf": [{ "const": "a", "type": "string" }, { "type": "null" }] },
                "list": { "type": "array", "items": { "type": "string", "examples": ["a"] }, "uniqueItems": true },
            },
            "required": ["pattern"],
            "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string" },
                "count": { "type": ["integer", "null"], "minimum": 0 },
                "at": { "type": "string", "format": "date-time" },
                "kind": { "anyOf": [{ "enum": ["a"], "type": "string" }, { "type": "null" }] },
                "list": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["pattern"],
            "additionalProperties": false,
        });
        assert_eq!(documented(&schema), expected);
    }
}
