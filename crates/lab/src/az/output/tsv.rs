//! Values between tabs.

use serde_json::Value;

use super::json::plain;
use super::query::Answered;

/// Writes one line for each entry. What is no single value stands as its length, or not at all: every line keeps its columns.
pub(in crate::az) fn tsv(answered: &Answered) -> String {
    let entries: Vec<&Value> = match &answered.document {
        Value::Array(list) => list.iter().collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            vec![other]
        }
    };
    let lines = entries.into_iter().map(|entry| format!("{}\n", line(answered, entry)));
    lines.collect()
}

fn line(answered: &Answered, entry: &Value) -> String {
    match entry {
        Value::Object(map) => {
            let cells: Vec<String> =
                answered.names(map).into_iter().filter_map(|name| map.get(name)).map(cell).collect();
            cells.join("\t")
        }
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join("\t"),
        Value::Bool(value) => value.to_string(),
        other @ (Value::Null | Value::Number(_) | Value::String(_)) => cell(other),
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Array(list) => list.len().to_string(),
        Value::Object(_) => String::new(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain(other),
    }
}
