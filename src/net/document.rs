//! JSON documents as `az` prints them: which rows are in one, whatever they are wrapped in.

use serde_json::{Map, Value};

use super::{Fields, Place, bounded};

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
    /// The document holds more than any interface or region has.
    #[error("the document holds too much: it was read up to line {line}")]
    TooMuch {
        /// The line up to which it was read.
        line: usize,
    },
    /// The document is JSON of another kind.
    #[error("the document holds no {expected}")]
    WrongShape {
        /// What was expected in it.
        expected: &'static str,
    },
}

/// Reads a text as one JSON document.
///
/// # Errors
/// Fails where the text is empty, no JSON, or holds more than can be kept.
pub fn document(text: &str) -> Result<Value, DocumentError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(DocumentError::Empty);
    }
    bounded::read(text)
}

/// A row of a document, and where it stands.
#[derive(Debug, Clone)]
pub struct Placed<'a> {
    /// Where it stands.
    pub place: Place,
    /// The row.
    pub value: &'a Value,
}

/// Finds the rows of a document: a list, lists in a list, a list below one of `wraps`, or one row alone.
///
/// What is no row stays in the answer, so that the caller can warn about it by its place.
///
/// # Errors
/// Fails where the document is a failed call's answer, or holds neither a list nor a row.
pub fn placed<'a>(
    document: &'a Value,
    wraps: &[&str],
    is_row: impl Fn(&Map<String, Value>) -> bool,
    expected: &'static str,
) -> Result<Vec<Placed<'a>>, DocumentError> {
    if let Some(error) = document.field("error").filter(|error| !error.is_null()) {
        let code = error.field("code").or(Some(error)).and_then(Value::as_str).unwrap_or("unnamed");
        return Err(DocumentError::Failed { code: code.chars().take(200).collect() });
    }
    let mut finder = Finder { wraps, is_row, found: Vec::new() };
    match document {
        Value::Array(_) => finder.flatten(document, Place::default()),
        Value::Object(map) if (finder.is_row)(map) => {
            finder.found.push(Placed { place: Place::default(), value: document });
        }
        Value::Object(map) => {
            let wrapped = finder.unwrap(map, |value| value.is_array() || value.is_object());
            let (name, inner) = wrapped.ok_or(DocumentError::WrongShape { expected })?;
            finder.flatten(inner, Place::default().field(name));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(DocumentError::WrongShape { expected });
        }
    }
    Ok(finder.found)
}

/// Returns what is in lists in a list, or in a list below one of `wraps`, with the place of each.
pub fn flattened<'a>(
    value: &'a Value,
    place: Place,
    wraps: &[&str],
    is_row: impl Fn(&Map<String, Value>) -> bool,
) -> Vec<Placed<'a>> {
    let mut finder = Finder { wraps, is_row, found: Vec::new() };
    finder.flatten(value, place);
    finder.found
}

/// Reads a text and finds the rows in it, as `placed` does.
///
/// # Errors
/// Fails where the text is no JSON, a failed call's answer, or holds neither a list nor a row.
pub fn rows(
    text: &str,
    wraps: &[&str],
    is_row: impl Fn(&Map<String, Value>) -> bool,
    expected: &'static str,
) -> Result<Vec<Value>, DocumentError> {
    let document = document(text)?;
    Ok(placed(&document, wraps, is_row, expected)?.into_iter().map(|row| row.value.clone()).collect())
}

struct Finder<'a, 'w, F> {
    wraps: &'w [&'w str],
    is_row: F,
    found: Vec<Placed<'a>>,
}

impl<'a, 'w, F: Fn(&Map<String, Value>) -> bool> Finder<'a, 'w, F> {
    fn unwrap(
        &self,
        map: &'a Map<String, Value>,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<(&'w str, &'a Value)> {
        let held = |wrap: &&'w str| map.field(wrap).filter(|value| wanted(value)).map(|value| (*wrap, value));
        self.wraps.iter().find_map(held)
    }

    /// The reader of JSON bounds the depth.
    fn flatten(&mut self, value: &'a Value, place: Place) {
        match value {
            Value::Array(items) => {
                let within = place.shared();
                for (at, item) in items.iter().enumerate() {
                    self.flatten(item, Place::item(within.clone(), at));
                }
            }
            Value::Object(map) if !(self.is_row)(map) => match self.unwrap(map, Value::is_array) {
                Some((name, inner)) => self.flatten(inner, place.field(name)),
                None => self.found.push(Placed { place, value }),
            },
            Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.found.push(Placed { place, value });
            }
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
    fn every_row_has_its_place() {
        let places = |text: &str| -> Vec<String> {
            let document = document(text).unwrap();
            let found = placed(&document, &["value"], |map| map.contains_key("p"), "rows").unwrap();
            found.iter().map(|row| row.place.to_string()).collect()
        };
        assert_eq!(places(r#"{"value":[{"p":1},null]}"#), ["value[0]", "value[1]"]);
        assert_eq!(places(r#"[{"p":1},[{"p":1}]]"#), ["[0]", "[1][0]"]);
        assert_eq!(places(r#"[{"value":[{"p":1}]}]"#), ["[0].value[0]"]);
        assert_eq!(places(r#"{"p":1}"#), [""]);
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
