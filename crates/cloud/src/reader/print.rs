//! Documents as `az` writes them: sorted names, two blanks for each level.

use serde_json::Value;

/// Writes a document; nothing is printed as nothing.
pub(super) fn text(document: &Value) -> String {
    if document.is_null() {
        return String::new();
    }
    let mut out = String::new();
    write(document, 0, &mut out);
    out.push('\n');
    out
}

/// Writes a line for each entry of a list, or one for what is none, with tabs between values.
pub(super) fn tsv(document: &Value) -> String {
    let one = std::slice::from_ref(document);
    let rows = match document {
        Value::Null => &[],
        Value::Array(rows) => rows.as_slice(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => one,
    };
    rows.iter().map(|row| row_of(row) + "\n").collect()
}

fn row_of(row: &Value) -> String {
    match row {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|(name, _)| *name);
            entries.into_iter().map(|(_, value)| cell(value)).collect::<Vec<_>>().join("\t")
        }
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join("\t"),
        Value::Bool(is) => is.to_string(),
        Value::Null | Value::Number(_) | Value::String(_) => cell(row),
    }
}

/// Writes a value: of a list how long it is, of an object nothing.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.len().to_string(),
        Value::Object(_) => String::new(),
    }
}

fn write(document: &Value, depth: usize, out: &mut String) {
    match document {
        Value::Array(list) if !list.is_empty() => {
            out.push('[');
            for (at, entry) in list.iter().enumerate() {
                begin(at, depth, out);
                write(entry, depth + 1, out);
            }
            end(depth, out);
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (at, (name, value)) in entries.into_iter().enumerate() {
                begin(at, depth, out);
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push_str(": ");
                write(value, depth + 1, out);
            }
            end(depth, out);
            out.push('}');
        }
        plain @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_)) => out.push_str(&plain.to_string()),
    }
}

fn begin(at: usize, depth: usize, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
    end(depth + 1, out);
}

fn end(depth: usize, out: &mut String) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}
