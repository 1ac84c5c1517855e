//! Cuts JSON as JSON: fewer items, shorter strings, shallower values, until it fits.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::clip::lines::shorten;
use crate::clip::model_text::{Cut, Limits};

/// How much is shown at one step.
struct Measure {
    /// Items of an array, and members of an object.
    items: usize,
    /// Bytes of a string.
    string: usize,
    /// Values inside each other.
    depth: usize,
}

/// The steps, from the mildest to the last: a document of one marker.
const STEPS: [Measure; 12] = [
    Measure { items: 200, string: 1_000, depth: 24 },
    Measure { items: 100, string: 500, depth: 16 },
    Measure { items: 50, string: 300, depth: 12 },
    Measure { items: 32, string: 200, depth: 10 },
    Measure { items: 20, string: 160, depth: 8 },
    Measure { items: 12, string: 120, depth: 7 },
    Measure { items: 8, string: 100, depth: 6 },
    Measure { items: 5, string: 80, depth: 5 },
    Measure { items: 4, string: 64, depth: 4 },
    Measure { items: 3, string: 64, depth: 3 },
    Measure { items: 2, string: 48, depth: 2 },
    Measure { items: 1, string: 48, depth: 1 },
];

/// Cuts a document; `None` where even its smallest form does not fit.
pub(super) fn cut(whole: &str, value: &Value, limits: Limits) -> Option<Cut> {
    let room = limits.bytes().min(whole.len().saturating_sub(1));
    let items = value.as_array().map(Vec::len);
    // What only has too many lines or spaces loses nothing but these.
    let compact = value.to_string();
    if compact.len() <= room && limits.lines > 0 {
        return Some(Cut { lines: 1, text: compact, items });
    }
    for measure in STEPS {
        let small = shrink(value, &measure, measure.depth);
        let pretty = serde_json::to_string_pretty(&small).ok()?;
        let shown = items.map(|total| total.min(measure.items));
        for text in [pretty, small.to_string()] {
            if text.len() <= room && text.lines().count() <= limits.lines {
                return Some(Cut { lines: text.lines().count(), text, items: shown });
            }
        }
    }
    let empty = if value.is_array() { "[]" } else { "{}" };
    (room >= empty.len() && limits.lines > 0).then(|| Cut {
        text: empty.to_owned(),
        lines: 1,
        items: items.map(|_| 0),
    })
}

/// Makes a smaller value of the same kind.
fn shrink(value: &Value, measure: &Measure, depth: usize) -> Value {
    match value {
        Value::Array(items) if depth == 0 && !items.is_empty() => marker(items.len(), "items"),
        Value::Object(members) if depth == 0 && !members.is_empty() => marker(members.len(), "members"),
        Value::Array(items) => array(items, measure, depth),
        Value::Object(members) => object(members, measure, depth),
        Value::String(text) => Value::String(shorten(text, measure.string)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Shows the first items and the last one, and counts those between.
fn array(items: &[Value], measure: &Measure, depth: usize) -> Value {
    let inner = |item: &Value| shrink(item, measure, depth - 1);
    if items.len() <= measure.items {
        return items.iter().map(inner).collect();
    }
    let tail = usize::from(measure.items > 1);
    let head = measure.items - tail;
    let mut shown: Vec<Value> = items.iter().take(head).map(inner).collect();
    shown.push(marker(items.len() - measure.items, "items"));
    shown.extend(items.iter().skip(items.len() - tail).map(inner));
    Value::Array(shown)
}

/// Shows the first members, and counts the rest under a name of its own.
fn object(members: &Map<String, Value>, measure: &Measure, depth: usize) -> Value {
    let mut shown: Map<String, Value> = members
        .iter()
        .take(measure.items)
        .map(|(name, value)| (shorten(name, measure.string), shrink(value, measure, depth - 1)))
        .collect();
    if let Some(left_out) = members.len().checked_sub(measure.items).filter(|count| *count > 0) {
        let name: Cow<'_, str> = if shown.contains_key("...") { "... left out".into() } else { "...".into() };
        shown.insert(name.into_owned(), json!(format!("{left_out} members left out")));
    }
    Value::Object(shown)
}

/// An object in the place of what was left out. An object, because a reader of items expects objects.
fn marker(left_out: usize, what: &str) -> Value {
    json!({ "left_out": left_out, "of": what })
}
