//! Documents, with sorted names and two blanks for each level.

use serde_json::{Number, Value};

/// Writes a document.
pub(in crate::az) fn json(document: &Value) -> String {
    let mut text = String::new();
    write(document, 0, &mut text);
    text.push('\n');
    text
}

fn write(document: &Value, depth: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    match document {
        Value::Number(printed) => out.push_str(&number(printed)),
        Value::Array(list) if !list.is_empty() => {
            out.push('[');
            for (at, entry) in list.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write(entry, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (at, (name, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push_str(": ");
                write(value, depth + 1, out);
            }
            line(out, depth);
            out.push('}');
        }
        other @ (Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
            out.push_str(&other.to_string())
        }
    }
}

/// Writes a number as the real one's language does: very large and very small ones with a power of ten.
fn number(printed: &Number) -> String {
    let Some(value) = printed.as_f64().filter(|_| printed.is_f64()) else { return printed.to_string() };
    let power = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    if (-4.0..16.0).contains(&power) {
        let text = value.to_string();
        return if text.contains('.') { text } else { format!("{text}.0") };
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
            format!("{digits}e{sign}{power:0>2}")
        }
        None => text,
    }
}

/// Writes a single value as the real one's language does.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(printed) => number(printed),
        Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_sorted_and_empty_things_stay_on_their_line() {
        let printed = json!({"b": [], "a": {"z": {}, "y": [1, "ü\n"]}});
        let text = "{\n  \"a\": {\n    \"y\": [\n      1,\n      \"ü\\n\"\n    ],\n    \"z\": {}\n  },\n  \"b\": []\n}\n";
        assert_eq!(json(&printed), text);
    }

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        let printed = |text: &str| plain(&serde_json::from_str(text).unwrap());
        assert_eq!(
            (printed("1.0"), printed("1e30"), printed("1e22")),
            ("1.0".into(), "1e+30".into(), "1e+22".into())
        );
        assert_eq!(
            (printed("0.00001"), printed("-2.5e-7"), printed("0.0001")),
            ("1e-05".into(), "-2.5e-07".into(), "0.0001".into())
        );
        assert_eq!(
            (printed("18446744073709551615"), printed("-5"), printed("0.0")),
            ("18446744073709551615".into(), "-5".into(), "0.0".into())
        );
    }
}
