//! The models of commands that print every field they know, absent ones too.

use serde_json::{Map, Value};
use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::{OffsetDateTime, UtcOffset};

/// A model as text: a document of its fields. An object in it stands for the fields of an object, a list of one for the fields of
/// entries, anything else for what an absent field is printed as.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model(pub(super) &'static str);

impl Model {
    /// Prints what the model knows of a document.
    pub(super) fn of(self, document: &Value) -> Value {
        let shape: Value = serde_json::from_str(self.0).unwrap_or_default();
        shaped(&shape, document)
    }
}

fn shaped(shape: &Value, document: &Value) -> Value {
    match (shape, document) {
        (Value::Object(fields), Value::Object(stored)) if !fields.is_empty() => {
            let field = |(name, shape): (&String, &Value)| {
                let value = stored.get(name).filter(|value| !value.is_null());
                let value = value.map_or_else(|| absent(shape), |value| shaped(shape, value));
                (name.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
        }
        (Value::Array(shapes), Value::Array(stored)) => {
            let shape = shapes.first().cloned().unwrap_or_default();
            Value::Array(stored.iter().map(|entry| shaped(&shape, entry)).collect())
        }
        (_, stored) => stored.clone(),
    }
}

/// What is printed for a field that is not there: what its shape is, unless that describes something.
fn absent(shape: &Value) -> Value {
    match shape {
        Value::Object(_) | Value::Array(_) => Value::Null,
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other.clone(),
    }
}

/// Writes a moment as the real one writes those it has read: without a fraction that is zero, with an offset.
pub(super) fn moment(text: &str) -> Option<String> {
    let read = OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(&text.replace("GMT", "+0000"), &Rfc2822))
        .ok()?;
    let read = read.to_offset(UtcOffset::UTC);
    let fraction = match read.microsecond() {
        0 => String::new(),
        micros => format!(".{micros:06}"),
    };
    let (date, clock) = (read.date(), read.time());
    Some(format!("{date}T{:02}:{:02}:{:02}{fraction}+00:00", clock.hour(), clock.minute(), clock.second()))
}

/// Writes all moments of a document anew: the texts of fields whose name ends in `Time`.
pub(super) fn moments(document: &mut Value) {
    match document {
        Value::Object(map) => {
            for (name, value) in map {
                let anew =
                    name.to_ascii_lowercase().ends_with("time").then(|| moment(value.as_str()?)).flatten();
                match anew {
                    Some(anew) => *value = Value::from(anew),
                    None => moments(value),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(moments),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_prints_all_it_knows_and_nothing_else() {
        let model = Model(r#"{"a": null, "b": {"c": null}, "d": [{"e": null}], "f": ""}"#);
        assert_eq!(
            model.of(&json!({"b": {"x": 1}, "z": 2})),
            json!({"a": null, "b": {"c": null}, "d": null, "f": ""})
        );
        assert_eq!(
            model.of(&json!({"a": 1, "d": [{}]})),
            json!({"a": 1, "b": null, "d": [{"e": null}], "f": ""})
        );
    }

    #[test]
    fn moments_lose_a_fraction_that_is_zero() {
        assert_eq!(moment("2025-05-20T08:00:00.0000000Z").as_deref(), Some("2025-05-20T08:00:00+00:00"));
        assert_eq!(
            moment("2025-05-20T10:00:00.5+02:00").as_deref(),
            Some("2025-05-20T08:00:00.500000+00:00")
        );
        assert_eq!(moment("Mon, 02 Jun 2025 09:31:00 GMT").as_deref(), Some("2025-06-02T09:31:00+00:00"));
        assert_eq!(moment("yesterday"), None);
    }
}
