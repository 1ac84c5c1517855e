//! The first event that is not what follows from the ones before it.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::event::Recorded;

/// A longer value is cut in the message.
const MAX_VALUE_BYTES: usize = 300;

/// Where a record is not what this program would have done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Divergence {
    pub seq: u64,
    /// The word for what is recorded.
    pub kind: String,
    /// What follows from the events before it.
    pub expected: String,
    pub recorded: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seq, kind, expected, recorded } = self;
        write!(out, "event {seq} ({kind}): expected {expected}, recorded is {recorded}")
    }
}

impl Divergence {
    pub(super) fn at(
        recorded: &Recorded,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self {
            seq: recorded.seq,
            kind: recorded.kind.clone(),
            expected: expected.into(),
            recorded: found.into(),
        })
    }

    /// Names the first path in which two values differ.
    pub(super) fn between(recorded: &Recorded, expected: &Value, found: &Value) -> Box<Self> {
        let (path, expected, found) = first(String::new(), expected, found);
        let describe = |value: Option<&Value>| match value {
            Some(value) => format!("{path} {}", cut(value)),
            None => format!("no {path}"),
        };
        Self::at(recorded, describe(expected), describe(found))
    }
}

/// Returns where two values first differ, and what stands there in each.
fn first<'a>(
    path: String,
    one: &'a Value,
    other: &'a Value,
) -> (String, Option<&'a Value>, Option<&'a Value>) {
    let differs = |one: Option<&Value>, other: Option<&Value>| one != other;
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            let mut keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            match keys.find(|key| differs(left.get(*key), right.get(*key))) {
                Some(key) => deeper(format!("{path}/{key}"), left.get(key), right.get(key)),
                None => (path, Some(one), Some(other)),
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            let mut all = 0..left.len().max(right.len());
            match all.find(|at| differs(left.get(*at), right.get(*at))) {
                Some(at) => deeper(format!("{path}/{at}"), left.get(at), right.get(at)),
                None => (path, Some(one), Some(other)),
            }
        }
        (one, other) => (path, Some(one), Some(other)),
    }
}

fn deeper<'a>(
    path: String,
    one: Option<&'a Value>,
    other: Option<&'a Value>,
) -> (String, Option<&'a Value>, Option<&'a Value>) {
    match (one, other) {
        (Some(one), Some(other)) => first(path, one, other),
        (one, other) => (path, one, other),
    }
}

fn cut(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > MAX_VALUE_BYTES {
        text.truncate(text.floor_char_boundary(MAX_VALUE_BYTES));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(one: &Value, other: &Value, path: &str) {
        assert_eq!(first(String::new(), one, other).0, path);
    }

    #[test]
    fn the_innermost_difference_is_named() {
        check(&json!({"a": 1, "b": {"c": [1, 2]}}), &json!({"a": 1, "b": {"c": [1, 3]}}), "/b/c/1");
        check(&json!({"a": 1}), &json!({"a": 1, "b": 2}), "/b");
        check(&json!([1]), &json!([1, 2]), "/1");
        check(&json!("x"), &json!(["x"]), "");
    }

    #[test]
    fn a_long_value_is_cut_at_a_character() {
        assert!(cut(&json!("ü".repeat(500))).len() <= MAX_VALUE_BYTES + '…'.len_utf8());
    }
}
