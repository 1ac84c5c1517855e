//! Tables for people: a column whose head names a secret, or a subscription.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::grid::{self, Column};
use crate::redact::reader::{Reader, pattern};
use crate::redact::span::OPENING;

/// The line of dashes under the head of a table.
static RULER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^[ \t]*[|+]?[ ]?:?-{2,}:?(?:[ ]{1,3}-{2,}|[ ]?[+|][ ]?:?-{2,}:?)*[ ]?[|+]?[ \t]*\r?$")
});

/// A column and the letters over which it stands.
type Placed = (Range<usize>, Column);

/// Hides the cells of secret columns.
pub(super) fn tables(reader: &mut Reader<'_>) {
    let text = reader.text;
    for ruler in RULER.find_iter(text) {
        let above = text.get(..ruler.start()).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let head = above.get(above.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default();
        let Some(columns) = columns(head, ruler.as_str()) else { continue };
        let single = columns.len() == 1;
        let mut start = ruler.end();
        for (row, line) in text.get(start..).unwrap_or_default().split_inclusive('\n').enumerate() {
            if row > 0 && (line.trim().is_empty() || RULER.is_match(line)) {
                break;
            }
            // A placeholder of an earlier pass has moved the columns behind it.
            let in_a_sentence = single && line.trim().contains(' ');
            if !line.contains(OPENING) && !in_a_sentence {
                grid::row(reader, &cells(line, start, &columns));
            }
            start += line.len();
        }
    }
}

/// Reads the columns under a ruler; `None` where they hide nothing.
fn columns(head: &str, ruler: &str) -> Option<Vec<Placed>> {
    let dashes: Vec<char> = ruler.trim_end().chars().collect();
    let mut starts: Vec<usize> = Vec::new();
    for (at, letter) in dashes.iter().enumerate() {
        let opens =
            at.checked_sub(1).and_then(|before| dashes.get(before)).is_none_or(|before| *before != '-');
        if *letter == '-' && opens {
            starts.push(at);
        }
    }
    let places: Vec<Range<usize>> = starts
        .iter()
        .enumerate()
        .map(|(index, from)| *from..starts.get(index + 1).copied().unwrap_or(usize::MAX))
        .collect();
    let names: Vec<String> = places
        .iter()
        .map(|place| head.chars().skip(place.start).take(place.len()).collect::<String>())
        .collect();
    let columns = grid::columns(names.iter().map(|name| cell(name)))?;
    Some(places.into_iter().zip(columns).collect())
}

/// Cuts one row into its cells.
fn cells(line: &str, start: usize, columns: &[Placed]) -> Vec<Placed> {
    let mut found = Vec::new();
    for (letters, column) in columns {
        let mut places = line.char_indices().map(|(at, _)| at).skip(letters.start);
        let Some(from) = places.next() else { continue };
        // A word across the boundary means that this row is no row.
        if !line.get(..from).unwrap_or_default().ends_with([' ', '\t', '|']) && from > 0 {
            continue;
        }
        let width = letters.len().checked_sub(1).filter(|width| *width < line.len());
        let to = width.and_then(|width| places.nth(width)).unwrap_or(line.len());
        let text = line.get(from..to).unwrap_or_default();
        let value = cell(text);
        let from = start + from + text.find(value).unwrap_or(0);
        found.push((from..from + value.len(), *column));
    }
    found
}

/// Takes the borders and the spaces from a cell.
fn cell(text: &str) -> &str {
    text.trim_matches(|letter: char| letter.is_whitespace() || letter == '|' || letter == '+')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::reader::{self, Rule};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        reader::check(&[Rule::Walk(tables)], text, expected);
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
