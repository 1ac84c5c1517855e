//! Results that fit: a model reads no megabytes, and what was left out is said.

use serde_json::{Map, Value, json};

/// A result has no more bytes, as far as it can be shortened.
const MAX_BYTES: usize = 64 << 10;

/// How many members of a list and characters of a text stay, attempt by attempt.
const STEPS: [(usize, usize); 6] =
    [(2_000, 40_000), (500, 16_000), (100, 8_000), (25, 2_000), (8, 500), (2, 200)];

/// What is said of left-out members is itself no long list.
const MAX_SAID: usize = 50;

/// Shortens a result until it fits; returns what was left out where.
pub(super) fn shortened(value: Value) -> (Value, Vec<Value>) {
    let whole = value.to_string().len();
    if whole <= MAX_BYTES {
        return (value, Vec::new());
    }
    let mut best = (value.clone(), Vec::new());
    for (members, chars) in STEPS {
        let mut left_out = Vec::new();
        let short = cut(value.clone(), members, chars, "", &mut left_out);
        let fits = short.to_string().len() <= MAX_BYTES;
        let more = left_out.len().saturating_sub(MAX_SAID);
        left_out.truncate(MAX_SAID);
        if more > 0 {
            left_out.push(json!({ "at": "elsewhere", "places": more }));
        }
        best = (short, left_out);
        if fits {
            break;
        }
    }
    best
}

fn cut(value: Value, members: usize, chars: usize, at: &str, left_out: &mut Vec<Value>) -> Value {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            if length <= chars {
                return Value::String(text);
            }
            left_out.push(json!({ "at": at, "characters": length, "kept": chars }));
            Value::String(text.chars().take(chars).collect())
        }
        Value::Array(mut values) => {
            if values.len() > members {
                left_out.push(json!({ "at": at, "members": values.len(), "kept": members }));
                values.truncate(members);
            }
            let cut = values.into_iter().enumerate();
            cut.map(|(place, value)| self::cut(value, members, chars, &format!("{at}/{place}"), left_out))
                .collect()
        }
        Value::Object(fields) => {
            // The fields of the answer itself are few, and its schema counts on them.
            let length = fields.len();
            let kept = if at.is_empty() { length } else { members.max(100) };
            if length > kept {
                left_out.push(json!({ "at": at, "members": length, "kept": kept }));
            }
            let fields: Map<String, Value> = fields
                .into_iter()
                .take(kept)
                .map(|(name, value)| {
                    let cut = cut(value, members, chars, &format!("{at}/{name}"), left_out);
                    (name, cut)
                })
                .collect();
            Value::Object(fields)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_as_it_is() {
        let value = json!({"a": [1, 2, 3], "b": "x".repeat(60_000)});
        assert_eq!(shortened(value.clone()), (value, Vec::new()));
    }

    #[test]
    fn what_is_long_is_cut_and_said() {
        let (short, left_out) = shortened(json!({"rows": vec!["x".repeat(50); 100_000], "verdict": "DROP"}));
        assert!(short.to_string().len() <= MAX_BYTES, "{}", short.to_string().len());
        assert_eq!(short["verdict"], "DROP");
        assert_eq!(left_out.len(), 1, "{left_out:?}");
        assert_eq!(left_out[0]["members"], 100_000);
        let (short, left_out) = shortened(json!({"output": "é".repeat(1 << 20)}));
        assert!(short.to_string().len() <= MAX_BYTES && left_out[0]["characters"] == 1 << 20);
    }

    #[test]
    fn many_names_below_are_cut_and_the_answers_own_stay() {
        let inner: Map<String, Value> = (0..50_000).map(|at| (format!("name{at}"), json!(at))).collect();
        let outer = json!({"types": inner, "a": 1, "b": 2});
        let (short, left_out) = shortened(outer);
        assert_eq!(short.as_object().unwrap().len(), 3);
        assert!(short.to_string().len() <= MAX_BYTES && !left_out.is_empty());
    }
}
