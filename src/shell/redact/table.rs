//! Tables for people: a column whose head names a secret, or a subscription.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::shell::redact::cloud::is_guid;
use crate::shell::redact::name::{Strength, cloud_id, meaning};
use crate::shell::redact::rule::pattern;
use crate::shell::redact::span::{OPENING, Span};
use crate::shell::redact::value::is_secret;

/// The line of dashes under the head of a table.
static RULER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^[ \t]*[|+]?[ ]?-{2,}(?:[ ]{1,3}-{2,}|[ ]?[+|][ ]?-{2,})+[ ]?[|+]?[ \t]*\r?$")
});

/// A column that hides something: where it stands, and what it hides.
struct Column {
    letters: Range<usize>,
    category: &'static str,
    /// `None` where only an identifier is hidden.
    strength: Option<Strength>,
}

/// Finds the cells of secret columns.
pub(super) fn find(text: &str, found: &mut Vec<Span>) {
    for ruler in RULER.find_iter(text) {
        let above = text.get(..ruler.start()).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let head = above.get(above.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default();
        let columns = columns(head, ruler.as_str());
        if columns.is_empty() {
            continue;
        }
        let mut start = ruler.end();
        for (row, line) in text.get(start..).unwrap_or_default().split_inclusive('\n').enumerate() {
            if row > 0 && (line.trim().is_empty() || RULER.is_match(line)) {
                break;
            }
            // A placeholder of an earlier pass has moved the columns behind it.
            if !line.contains(OPENING) {
                cells(line, start, &columns, found);
            }
            start += line.len();
        }
    }
}

/// Reads the columns that hide something.
fn columns(head: &str, ruler: &str) -> Vec<Column> {
    let dashes: Vec<char> = ruler.trim_end().chars().collect();
    let mut starts: Vec<usize> = Vec::new();
    for (at, letter) in dashes.iter().enumerate() {
        let opens =
            at.checked_sub(1).and_then(|before| dashes.get(before)).is_none_or(|before| *before != '-');
        if *letter == '-' && opens {
            starts.push(at);
        }
    }
    let names: Vec<(Range<usize>, String)> = starts
        .iter()
        .enumerate()
        .map(|(index, from)| {
            let to = starts.get(index + 1).copied().unwrap_or(usize::MAX);
            (*from..to, head.chars().skip(*from).take(to - *from).collect::<String>())
        })
        .collect();
    let of_keys = names.iter().any(|(_, name)| matches!(cell(name), "KeyName" | "Name" | "ContentType"));
    let has_value = names.len() <= 4 && of_keys;
    names
        .into_iter()
        .filter_map(|(letters, name)| {
            let name = cell(&name);
            if let Some((category, _)) = cloud_id(name) {
                return Some(Column { letters, category, strength: None });
            }
            if name == "Value" && has_value {
                return Some(Column { letters, category: "secret", strength: Some(Strength::Faint) });
            }
            let meaning = meaning(name).filter(|meaning| meaning.strength != Strength::Faint)?;
            Some(Column { letters, category: meaning.category, strength: Some(meaning.strength) })
        })
        .collect()
}

/// Finds the cells of one row.
fn cells(line: &str, start: usize, columns: &[Column], found: &mut Vec<Span>) {
    for column in columns {
        let mut places = line.char_indices().map(|(at, _)| at).skip(column.letters.start);
        let Some(from) = places.next() else { continue };
        // A word across the boundary means that this row is no row.
        if !line.get(..from).unwrap_or_default().ends_with([' ', '\t', '|']) && from > 0 {
            continue;
        }
        let width = column.letters.len().checked_sub(1).filter(|width| *width < line.len());
        let to = width.and_then(|width| places.nth(width)).unwrap_or(line.len());
        let text = line.get(from..to).unwrap_or_default();
        let value = cell(text);
        let hides = match column.strength {
            None => is_guid(value),
            Some(strength) => is_secret(value, strength, column.category),
        };
        if hides {
            let from = start + from + text.find(value).unwrap_or(0);
            found.push(Span::new(from..from + value.len(), column.category));
        }
    }
}

/// Takes the borders and the spaces from a cell.
fn cell(text: &str) -> &str {
    text.trim_matches(|letter: char| letter.is_whitespace() || letter == '|' || letter == '+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        find(text, &mut found);
        let hidden: Vec<&str> = found.iter().map(|span| &text[span.range.clone()]).collect();
        assert_eq!(hidden, expected, "{text}");
    }

    #[test]
    fn the_head_of_a_column_is_a_label() {
        check(
            "Name    SubscriptionId                        State\n------  ------------------------------------  -------\n\
             prod    a1b2c3d4-e5f6-7890-abcd-ef1234567890  Enabled\n",
            &["a1b2c3d4-e5f6-7890-abcd-ef1234567890"],
        );
        check(" id | password\n----+----------\n  1 | hunter2\n", &["hunter2"]);
    }

    #[test]
    fn other_tables_stay() {
        check("Name    State\n------  -------\nvm-1    Running\n", &[]);
    }
}
