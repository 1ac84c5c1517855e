//! JSON documents as `az` prints them: which rows are in one, whatever they are wrapped in.

use serde_json::{Map, Value};

use super::{Fields, JsonPath, bounded};

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
    /// A field of the document stands there twice, and says two things.
    #[error(
        "the document contradicts itself: up to line {line} a field is given twice, with different values"
    )]
    Twice {
        /// The line up to which it was read.
        line: usize,
    },
    /// PowerShell wrote the names of its classes where it stopped going deeper.
    #[error(
        "the document is cut off below a depth: it holds `{class}` in place of what that holds; in PowerShell, write it with `ConvertTo-Json -Depth 20`"
    )]
    TooShallow {
        /// The name of the class.
        class: String,
    },
    /// The document is one page of an answer.
    #[error("the document has further pages (nextLink), which are not in it")]
    Paged,
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
/// Fails where the text is empty, no JSON, contradicts itself, holds more than can be kept, or was cut off below a depth.
pub fn document(text: &str) -> Result<Value, DocumentError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(DocumentError::Empty);
    }
    let document = bounded::read(text)?;
    match class_name(text) {
        Some(class) => Err(DocumentError::TooShallow { class }),
        None => Ok(document),
    }
}

/// Finds a text that is the name of a class of PowerShell: `ConvertTo-Json` writes it for what lies deeper than it was asked to go.
fn class_name(text: &str) -> Option<String> {
    const CLASSES: [&str; 3] =
        ["\"Microsoft.Azure.Commands.", "\"System.Collections.", "\"System.Object[]\""];
    let at = CLASSES.iter().find_map(|class| text.find(class))?;
    let name = text.get(at..)?.split('"').nth(1)?;
    Some(name.chars().take(100).collect())
}

/// A row of a document, and where it stands.
#[derive(Debug, Clone)]
pub struct Placed<'a> {
    /// Where it stands.
    pub place: JsonPath,
    /// The row.
    pub value: &'a Value,
}

/// Finds the rows of a document: a list, lists in a list, a list below one of `wraps`, or one row alone.
///
/// What is no row stays in the answer, so that the caller can warn about it by its place.
///
/// # Errors
/// Fails where the document is a failed call's answer, is not all of it, or holds neither a list nor a row.
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
    let mut finder = Finder { wraps, is_row, found: Vec::new(), paged: false };
    match document {
        Value::Array(_) => finder.flatten(document, JsonPath::default()),
        Value::Object(map) if (finder.is_row)(map) => {
            finder.found.push(Placed { place: JsonPath::default(), value: document });
        }
        Value::Object(map) => {
            if !finder.unwrap(map, &JsonPath::default(), |value| value.is_array() || value.is_object()) {
                return Err(DocumentError::WrongShape { expected });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(DocumentError::WrongShape { expected });
        }
    }
    if finder.paged { Err(DocumentError::Paged) } else { Ok(finder.found) }
}

/// Returns what is in lists in a list, or in a list below one of `wraps`, with the place of each.
pub fn flattened<'a>(
    value: &'a Value,
    place: JsonPath,
    wraps: &[&str],
    is_row: impl Fn(&Map<String, Value>) -> bool,
) -> Vec<Placed<'a>> {
    let mut finder = Finder { wraps, is_row, found: Vec::new(), paged: false };
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
    /// Whether a list goes on elsewhere.
    paged: bool,
}

impl<'a, F: Fn(&Map<String, Value>) -> bool> Finder<'a, '_, F> {
    /// Goes through every list below one of the wraps, and tells whether there is any.
    fn unwrap(
        &mut self,
        map: &'a Map<String, Value>,
        place: &JsonPath,
        wanted: impl Fn(&Value) -> bool,
    ) -> bool {
        let mut any = false;
        for name in self.wraps {
            if let Some(inner) = map.field(name).filter(|value| wanted(value)) {
                any = true;
                self.paged |= map.field("nextLink").is_some_and(|link| !link.is_null() && link != "");
                self.flatten(inner, place.field(name));
            }
        }
        any
    }

    /// The reader of JSON bounds the depth.
    fn flatten(&mut self, value: &'a Value, place: JsonPath) {
        match value {
            Value::Array(items) => {
                let within = place.shared();
                for (at, item) in items.iter().enumerate() {
                    self.flatten(item, JsonPath::item(within.clone(), at));
                }
            }
            Value::Object(map) if !(self.is_row)(map) => {
                if !self.unwrap(map, &place, Value::is_array) {
                    self.found.push(Placed { place, value });
                }
            }
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
    fn a_document_of_powershell_that_was_cut_off_below_a_depth_says_so() {
        let row = r#"[{"Name":"a","EffectiveSecurityRules":["Microsoft.Azure.Commands.Network.Models.PSEffectiveSecurityRule"]}]"#;
        let error = document(row).unwrap_err().to_string();
        assert!(error.contains("PSEffectiveSecurityRule") && error.contains("-Depth 20"), "{error}");
        assert!(document(r#"{"AddressPrefix": "System.Object[]"}"#).is_err());
        assert!(document(r#"{"description": "see Microsoft.Azure.Commands.Network"}"#).is_ok());
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
    fn the_lists_of_every_wrap_are_read() {
        let both = r#"{"value":[],"rows":[{"p":1}]}"#;
        let read = rows(both, &["value", "rows"], |map| map.contains_key("p"), "rows");
        assert_eq!(read.unwrap().len(), 1);
    }

    #[test]
    fn one_page_of_several_is_not_the_document() {
        for text in [r#"{"value":[{"p":1}],"nextLink":"x"}"#, r#"[{"value":[{"p":1}],"nextLink":"x"}]"#] {
            assert!(read(text).unwrap_err().contains("nextLink"), "{text}");
        }
        assert_eq!(read(r#"{"value":[{"p":1}],"nextLink":null}"#), Ok(1));
    }

    #[test]
    fn a_field_that_says_two_things_is_refused() {
        assert!(read(r#"[{"p":1,"q":{"access":"Deny","access":"Allow"}}]"#).unwrap_err().contains("twice"));
        assert_eq!(read(r#"[{"p":1,"p":1}]"#), Ok(1));
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
