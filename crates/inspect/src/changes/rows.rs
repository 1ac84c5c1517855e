//! The rows of a log, each by itself: one that is cut off hides none of those before it.

use serde_json::Value;

use crate::net::{DocumentError, Fields as _, Warning, document};

/// No event of a log is longer.
const MAX_ROW_BYTES: usize = 1 << 20;

/// More events are not kept.
const MAX_ROWS: usize = 200_000;

/// The rows, what could not be read, and whether the text goes on somewhere else or was cut.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Value>,
    pub(super) warnings: Vec<Warning>,
    pub(super) is_cut: bool,
}

/// Reads the rows of a list, of a list below `value`, or one row alone.
pub(super) fn read(text: &str) -> Result<Rows, DocumentError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Some(items) = text.strip_prefix('[') {
        return Ok(list(items));
    }
    let whole = match document(text) {
        Ok(whole) => whole,
        Err(error) => match cut_page(text) {
            Some(items) => return Ok(Rows { is_cut: true, ..list(items) }),
            None => return Err(error),
        },
    };
    if let Some(error) = whole.field("error").filter(|error| !error.is_null()) {
        let code = error.field("code").or(Some(error)).and_then(Value::as_str).unwrap_or("unnamed");
        return Err(DocumentError::Failed { code: code.chars().take(200).collect() });
    }
    let more = whole.text("nextLink").is_some();
    match whole.field("value") {
        Some(Value::Array(rows)) => Ok(Rows {
            rows: rows.iter().take(MAX_ROWS).cloned().collect(),
            is_cut: more || rows.len() > MAX_ROWS,
            ..Rows::default()
        }),
        _ if whole.field("operationName").is_some() => Ok(Rows { rows: vec![whole], ..Rows::default() }),
        _ => Err(DocumentError::WrongShape { expected: "activity log" }),
    }
}

/// Returns what stands behind the bracket of a page whose end is missing.
fn cut_page(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('{')?.trim_start().strip_prefix("\"value\"")?.trim_start();
    rest.strip_prefix(':')?.trim_start().strip_prefix('[')
}

/// Reads the items of a list, without its first bracket.
fn list(text: &str) -> Rows {
    let mut found = Rows::default();
    let mut rest = text.trim_start();
    for row in 0.. {
        rest = rest.trim_start_matches([',', ' ', '\n', '\r', '\t']);
        if rest.starts_with(']') {
            break;
        }
        let item = item(rest);
        let (Some((item, after)), true) = (item, row < MAX_ROWS) else {
            found.is_cut = true;
            break;
        };
        rest = after;
        let read = Some(item).filter(|item| item.len() <= MAX_ROW_BYTES).and_then(|item| document(item).ok());
        match read {
            Some(Value::Array(inner)) => found.rows.extend(inner),
            Some(value) => found.rows.push(value),
            None => found.warnings.push(Warning::at(
                row,
                "",
                "the event is no JSON, contradicts itself or is too long",
            )),
        }
    }
    found
}

/// Splits the first item of a list from the rest; `None` where it has no end.
fn item(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' => depth += 1,
            b']' | b',' if depth == 0 => {
                return text.split_at_checked(at).filter(|(item, _)| !item.is_empty());
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.split_at_checked(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, rows: usize, is_cut: bool) {
        let found = read(text).unwrap();
        assert_eq!((found.rows.len(), found.is_cut), (rows, is_cut), "{text}: {:?}", found.warnings);
    }

    #[test]
    fn what_stands_before_the_cut_is_read() {
        let whole = r#"[{"a": "],}\"" }, {"b": [1, {"c": 2}]}]"#;
        check(whole, 2, false);
        check(whole.strip_suffix(']').unwrap(), 2, true);
        check(whole.strip_suffix("2}]}]").unwrap(), 1, true);
        check("[", 0, true);
        check("[]", 0, false);
    }

    #[test]
    fn a_page_may_stand_in_an_object() {
        check(r#"{"value": [{"a": 1}]}"#, 1, false);
        check(r#"{"value": [{"a": 1}], "nextLink": "x"}"#, 1, true);
        check(r#"{"value": [{"a": 1}, {"a""#, 1, true);
        check(r#"{"operationName": "x"}"#, 1, false);
    }

    #[test]
    fn an_odd_row_hides_no_other() {
        let found = read(r#"[{"a": }, 7, {"a": 1, "a": 2}, {"b": 1}]"#).unwrap();
        assert_eq!((found.rows.len(), found.warnings.len()), (2, 2));
    }

    #[test]
    fn what_is_no_log_is_an_error() {
        for text in ["", "no", "{}", r#"{"error": {"code": "AuthorizationFailed"}}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
