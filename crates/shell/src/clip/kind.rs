//! What a text is, as far as it matters for cutting it.

use serde::Serialize;
use serde_json::Value;

/// The kinds of text; each has its own rules for cutting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing.
    Empty,
    /// Bytes that no one reads.
    Binary,
    /// A list of items.
    JsonArray,
    /// Names with values.
    JsonObject,
    /// Columns under a head.
    Tabular,
    /// Anything else: lines, the first and the last of which say most.
    LogStream,
}

/// How many characters decide whether a text is binary.
const SAMPLE_CHARS: usize = 1_000;

/// How many lines decide whether a text is a table.
const SAMPLE_LINES: usize = 10;

/// Reads the kind of a text; a document comes with its content.
pub(super) fn kind(text: &str) -> (Kind, Option<Value>) {
    let trimmed = text.trim_start();
    if text.is_empty() {
        return (Kind::Empty, None);
    }
    if trimmed.starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        let kind = if value.is_array() { Kind::JsonArray } else { Kind::JsonObject };
        return (kind, Some(value));
    }
    // Behind the documents: odd characters in a string make none of them less of one.
    if is_binary(text) {
        return (Kind::Binary, None);
    }
    (if is_table(text) { Kind::Tabular } else { Kind::LogStream }, None)
}

/// Tells whether more than a tenth of the text is control characters or bytes that were no text.
fn is_binary(text: &str) -> bool {
    let odd = |letter: &char| {
        *letter == char::REPLACEMENT_CHARACTER
            || (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t' | '\u{1b}'))
    };
    let total = text.chars().take(SAMPLE_CHARS).count();
    text.chars().take(SAMPLE_CHARS).filter(odd).count() * 10 > total
}

/// Tells whether the first lines share their columns.
fn is_table(text: &str) -> bool {
    let columns: Vec<usize> =
        text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES).map(columns).collect();
    let Some(first) = columns.first().copied() else { return false };
    let alike = columns.iter().filter(|count| **count == first).count();
    columns.len() >= 3 && first >= 2 && alike * 10 >= columns.len() * 7
}

/// Counts what two spaces or a tab set apart in a line.
fn columns(line: &str) -> usize {
    line.trim().split("  ").flat_map(|part| part.split('\t')).filter(|part| !part.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_by_its_look() {
        assert_eq!(kind("").0, Kind::Empty);
        assert_eq!(kind("\0\u{1}\u{2}ELF").0, Kind::Binary);
        assert_eq!(kind(" [1]").0, Kind::JsonArray);
        assert_eq!(kind("{\"a\":1}\n").0, Kind::JsonObject);
        assert_eq!(kind("{\"a\":").0, Kind::LogStream);
        assert_eq!(kind("Name  State\n----  -----\nvm-1  Up\n").0, Kind::Tabular);
        assert_eq!(kind("one\ntwo\nthree\n").0, Kind::LogStream);
    }
}
