//! Rows of JSON, each read by itself: one odd row does not hide the others.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::gathered::Part;
use super::model::Warning;

/// The most rows of a document that are read.
const MAX_ROWS: usize = 20_000;

/// Reads an array of rows; what is no row is a warning, and the rest is read.
///
/// # Errors
/// Fails where the text is no array at all.
pub(super) fn rows<T: DeserializeOwned>(
    part: Part,
    text: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<T>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let document: Vec<Value> =
        serde_json::from_str(text).map_err(|error| format!("it is no list of rows: {error}"))?;
    if document.len() > MAX_ROWS {
        warnings
            .push(Warning { part, what: format!("{} rows; the first {MAX_ROWS} are read", document.len()) });
    }
    let mut found = Vec::new();
    for (at, row) in document.into_iter().take(MAX_ROWS).enumerate() {
        // A row of nothing is what `ip -j` prints for what it filters out.
        if row.as_object().is_some_and(serde_json::Map::is_empty) {
            continue;
        }
        match serde_json::from_value(row) {
            Ok(row) => found.push(row),
            Err(error) => warnings.push(Warning { part, what: format!("row {}: {error}", at + 1) }),
        }
    }
    Ok(found)
}
