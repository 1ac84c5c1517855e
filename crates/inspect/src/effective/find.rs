//! Finds the rows of an answer, and knows of each where it stands.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::row::{Part, clipped};
use crate::net::{Fields, document};

/// Where rows may lie, and how one is recognized.
pub(super) struct Shape {
    pub(super) wraps: [&'static str; 2],
    pub(super) is_row: fn(&Map<String, Value>) -> bool,
    pub(super) expected: &'static str,
}

impl Shape {
    /// Calls `row` for every row of an answer, and notes in `part` whatever is none.
    pub(super) fn each(
        &self,
        answer: &Value,
        at: &str,
        part: &mut Part,
        row: &mut dyn FnMut(&Value, &str, &mut Part),
    ) {
        let answer = match answer {
            Value::Null => {
                part.problem(at, "there is no answer");
                return;
            }
            // Text is what was no JSON when it was gathered; or somebody put the JSON into quotes.
            Value::String(text) => match document(text) {
                Ok(value) => Cow::Owned(value),
                Err(error) => {
                    let start = clipped(text.trim().lines().next().unwrap_or_default());
                    let start = if start.is_empty() { start } else { format!(": {start}") };
                    part.problem(at, format!("{error}{start}"));
                    return;
                }
            },
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Cow::Borrowed(answer),
        };
        self.walk(&answer, at, part, row);
    }

    fn walk(&self, value: &Value, at: &str, part: &mut Part, row: &mut dyn FnMut(&Value, &str, &mut Part)) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    // Millions of items that are no rows are not worth a look each.
                    if part.is_full() && !may_hold_rows(item) {
                        continue;
                    }
                    self.walk(item, &format!("{at}[{index}]"), part, row);
                }
            }
            Value::Object(map) => {
                if let Some(error) = map.field("error").filter(|error| !error.is_null()) {
                    let code = error.text("code").or(error.as_str()).unwrap_or("without a code");
                    part.problem(at, format!("the answer of a call that failed: {}", clipped(code)));
                    return;
                }
                if map.field("nextLink").is_some_and(|link| !link.is_null()) {
                    part.problem(at, "the answer has further pages (nextLink), which are not here");
                }
                if (self.is_row)(map) {
                    return row(value, at, part);
                }
                let list = |name: &&'static str| {
                    let name = *name;
                    Some((name, map.field(name).filter(|inner| inner.is_array())?))
                };
                let mut any = false;
                for (name, inner) in self.wraps.iter().filter_map(list) {
                    any = true;
                    self.walk(inner, &format!("{at}.{name}"), part, row);
                }
                if !any {
                    part.problem(at, format!("this holds no {}", self.expected));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let said = clipped(&value.to_string());
                part.problem(at, format!("{said} stands where {} are expected", self.expected));
            }
        }
    }
}

fn may_hold_rows(item: &Value) -> bool {
    match item {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
