//! JSON documents as `az` prints them: which rows are in one, whatever they are wrapped in.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Fields;

/// Why a document as a whole cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// There is no text.
    #[error("the document is empty")]
    Empty,
    /// The text is not JSON, or it is cut off.
    #[error("the document is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// The document is the answer to a call that failed.
    #[error("the document is the answer to a call that failed: {code}")]
    Failed {
        /// The code of the failure.
        code: String,
    },
    /// The document is JSON of another kind.
    #[error("the document holds no {expected}")]
    WrongShape {
        /// What was expected in it.
        expected: &'static str,
    },
}

/// What could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The row, counted from one over the whole document, where it is about one.
    pub row: Option<usize>,
    /// What is wrong, naming the text that is.
    pub what: String,
}

impl Warning {
    /// Warns about a row.
    #[must_use]
    pub fn at(row: usize, what: impl Into<String>) -> Self {
        Self { row: Some(row), what: what.into() }
    }

    /// Warns about the document.
    #[must_use]
    pub fn whole(what: impl Into<String>) -> Self {
        Self { row: None, what: what.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(out, "row {row}: {}", self.what),
            None => out.write_str(&self.what),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads a text as one JSON document.
///
/// # Errors
/// Fails where the text is empty or no JSON.
pub fn document(text: &str) -> Result<Value, DocumentError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(DocumentError::Empty);
    }
    serde_json::from_str(text).map_err(DocumentError::NotJson)
}

/// Finds the rows of a document: a list, lists in a list, a list below one of `wraps`, or one row alone.
///
/// What is no row stays in the answer, so that the caller can warn about it by its number.
///
/// # Errors
/// Fails where the text is no JSON, a failed call's answer, or holds neither a list nor a row.
pub fn rows(
    text: &str,
    wraps: &[&str],
    is_row: impl Fn(&Map<String, Value>) -> bool,
    expected: &'static str,
) -> Result<Vec<Value>, DocumentError> {
    let value = document(text)?;
    if let Some(error) = value.field("error").filter(|error| !error.is_null()) {
        let code = error.field("code").or(Some(error)).and_then(Value::as_str).unwrap_or("unnamed");
        return Err(DocumentError::Failed { code: code.chars().take(200).collect() });
    }
    let mut found = Vec::new();
    match value {
        list @ Value::Array(_) => flatten(list, wraps, &is_row, &mut found),
        Value::Object(map) if is_row(&map) => found.push(Value::Object(map)),
        Value::Object(map) => {
            let wrapped = wraps
                .iter()
                .find_map(|wrap| map.field(wrap).filter(|value| value.is_array() || value.is_object()));
            let inner = wrapped.cloned().ok_or(DocumentError::WrongShape { expected })?;
            flatten(inner, wraps, &is_row, &mut found);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(DocumentError::WrongShape { expected });
        }
    }
    Ok(found)
}

fn flatten(
    value: Value,
    wraps: &[&str],
    is_row: &impl Fn(&Map<String, Value>) -> bool,
    found: &mut Vec<Value>,
) {
    // The reader of JSON bounds the depth.
    match value {
        Value::Array(items) => items.into_iter().for_each(|item| flatten(item, wraps, is_row, found)),
        Value::Object(map) if !is_row(&map) => {
            let wrapped = wraps.iter().find_map(|wrap| map.field(wrap).filter(|value| value.is_array()));
            match wrapped.cloned() {
                Some(inner) => flatten(inner, wraps, is_row, found),
                None => found.push(Value::Object(map)),
            }
        }
        row @ (Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            found.push(row)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<usize, String> {
        rows(text, &["value"], |map| map.contains_key("p"), "rows")
            .map(|rows| rows.len())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_row_is_found_in_whatever_it_is_wrapped() {
        for text in [
            r#"{"p":1}"#,
            r#"[{"p":1}]"#,
            r#"{"value":[{"p":1}]}"#,
            r#"[[[{"p":1}]]]"#,
            r#"[{"value":[{"p":1}]}]"#,
        ] {
            assert_eq!(read(text), Ok(1), "{text}");
        }
        assert_eq!(read("\u{feff}[]"), Ok(0));
    }

    #[test]
    fn what_is_no_row_is_kept_for_a_warning() {
        assert_eq!(read(r#"{"value":[null,"x",3,{},{"p":1}]}"#), Ok(5));
    }

    #[test]
    fn an_unreadable_whole_is_an_error_that_says_why() {
        assert_eq!(read(" "), Err("the document is empty".into()));
        assert_eq!(read("ERROR: no"), Err("the document is not JSON".into()));
        assert_eq!(read(r#"{"value":[{"p":1}"#), Err("the document is not JSON".into()));
        assert_eq!(read("42"), Err("the document holds no rows".into()));
        assert_eq!(read("{}"), Err("the document holds no rows".into()));
        assert!(
            read(r#"{"error":{"code":"AuthorizationFailed"}}"#).unwrap_err().ends_with("AuthorizationFailed")
        );
        assert_eq!(read(&"[".repeat(100_000)), Err("the document is not JSON".into()));
    }
}
