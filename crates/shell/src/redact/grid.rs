//! Rows of fields under a head that names them: CSV, TSV, Markdown, and columns that only blanks keep apart.

use std::ops::Range;

use crate::redact::cloud::is_guid;
use crate::redact::name::{Meaning, Strength, cloud_id, meaning};
use crate::redact::reader::Reader;
use crate::redact::span::{OPENING, Span};
use crate::redact::value::is_random;

/// More fields than this are no table for people.
const MAX_FIELDS: usize = 64;

/// A longer line has no head of a table.
const MAX_HEAD_LEN: usize = 4096;

/// What a column does with its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Nothing.
    Open,
    /// Its cells are secrets, as far as the meaning demands it.
    Hides(Meaning),
    /// Its cells name a subscription or a tenant.
    Identifies(&'static str),
    /// Its cells name what another column holds.
    Names,
    /// Its cells are what another column names.
    Values,
}

/// What kept the fields of a line apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// One of these bytes.
    Byte(u8),
    /// Two blanks and more; cells begin where their heads do.
    Blanks,
}

/// A head and what it says about the rows below.
struct Head {
    separator: Separator,
    columns: Vec<(Range<usize>, Column)>,
}

/// Reads the names of columns; `None` where they hide nothing.
pub(super) fn columns<'a>(names: impl Iterator<Item = &'a str>) -> Option<Vec<Column>> {
    let mut columns: Vec<Column> = names.map(column).collect();
    let has = |kind: Column| columns.contains(&kind);
    let paired = has(Column::Names) && has(Column::Values);
    let hides = columns.iter().any(|column| matches!(column, Column::Hides(_) | Column::Identifies(_)));
    if !paired {
        for column in &mut columns {
            if matches!(column, Column::Names | Column::Values) {
                *column = Column::Open;
            }
        }
    }
    (paired || hides).then_some(columns)
}

/// Reads the name of one column.
fn column(name: &str) -> Column {
    let lower = name.to_ascii_lowercase();
    if let Some((category, _)) = cloud_id(name) {
        return Column::Identifies(category);
    }
    match lower.as_str() {
        "name" | "keyname" | "key name" | "setting" | "variable" | "parameter" | "property" | "field"
        | "option" | "contenttype" => Column::Names,
        "value" | "values" => Column::Values,
        // The two keys of an account.
        "key1" | "key2" | "key 1" | "key 2" => {
            Column::Hides(Meaning { category: "access_key", strength: Strength::Likely })
        }
        _ => meaning(name).map_or(Column::Open, Column::Hides),
    }
}

/// Hides the secrets of a row; each cell is a range of the text without its borders.
pub(super) fn row(reader: &mut Reader<'_>, cells: &[(Range<usize>, Column)]) {
    let text = reader.text;
    let shown = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let named = cells.iter().filter(|(_, column)| *column == Column::Names);
    let named = named.filter_map(|(range, _)| label(shown(range))).max_by_key(|meaning| meaning.strength);
    for (range, column) in cells {
        let hidden = match column {
            Column::Open | Column::Names => continue,
            Column::Identifies(category) => is_guid(shown(range)).then_some(*category),
            Column::Hides(meaning) => meaning.of(shown(range)),
            Column::Values => named
                .and_then(|meaning| meaning.of(shown(range)))
                .or_else(|| is_key(shown(range)).then_some("secret")),
        };
        reader.found.extend(hidden.map(|category| Span::new(range.clone(), category)));
    }
}

/// Reads the cell that says what its row holds.
fn label(name: &str) -> Option<Meaning> {
    match name.to_ascii_lowercase().as_str() {
        "key1" | "key2" | "primary" | "secondary" => {
            Some(Meaning { category: "storage_key", strength: Strength::Likely })
        }
        _ => meaning(name),
    }
}

/// Tells whether a value whose name says nothing is a key all the same.
fn is_key(value: &str) -> bool {
    value.len() >= 32 && is_random(value) && !value.contains("://") && !value.starts_with("sha")
}

/// Hides the cells of secret columns and of secret rows.
pub(super) fn tables(reader: &mut Reader<'_>) {
    let mut head: Option<Head> = None;
    let mut start = 0;
    for line in reader.text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        if let Some(table) = &head {
            match cells(body, start, table) {
                // A placeholder of an earlier pass has moved the columns behind it.
                Some(_) if table.separator == Separator::Blanks && body.contains(OPENING) => {}
                Some(cells) => row(reader, &cells),
                None => head = None,
            }
        }
        if head.is_none() {
            head = read_head(body);
        }
        start += line.len();
    }
}

/// Reads the head of a table; `None` where a line is none, or hides nothing.
fn read_head(line: &str) -> Option<Head> {
    if line.len() > MAX_HEAD_LEN {
        return None;
    }
    for separator in [b'\t', b'|', b',', b';'].map(Separator::Byte).into_iter().chain([Separator::Blanks]) {
        let fields = fields(line, separator);
        let names = || fields.iter().map(|range| line.get(range.clone()).unwrap_or_default());
        if fields.len() < 2 || fields.len() > MAX_FIELDS || !names().all(is_name) {
            continue;
        }
        let Some(columns) = columns(names()) else { continue };
        if is_setting(names()) {
            return None;
        }
        return Some(Head { separator, columns: fields.into_iter().zip(columns).collect() });
    }
    None
}

/// Tells whether a line is no head but a setting and its value: `DB_PASSWORD`, `False`, `sesame`.
fn is_setting<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let upper = |name: &str| !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let names: Vec<&str> = names.collect();
    let flag = |name: &&str| ["true", "false", "none"].iter().any(|word| name.eq_ignore_ascii_case(word));
    let first = names.first().copied().unwrap_or_default();
    names.iter().any(flag) || (first.contains('_') && upper(first) && !names.iter().all(|name| upper(name)))
}

/// Tells whether a field can be the name of a column.
fn is_name(field: &str) -> bool {
    let named = field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _-.$/()#".contains(&byte));
    named
        && field.len() <= 64
        && field.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'$')
}

/// Cuts a line into fields, without borders, blanks and quotation marks.
fn fields(line: &str, separator: Separator) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut push = |from: usize, to: usize| found.push(trimmed(line, from..to));
    match separator {
        Separator::Byte(mark) => {
            let inside = line.trim_matches([' ', '|']);
            let (from, to) = if mark == b'|' && line.trim_start().starts_with('|') {
                let from = line.len() - line.trim_start_matches([' ', '|']).len();
                (from, (from + inside.len()).min(line.len()))
            } else {
                (0, line.len())
            };
            let (mut start, mut quoted) = (from, false);
            for (at, byte) in line.bytes().enumerate().take(to).skip(from) {
                match byte {
                    b'"' if mark == b',' || mark == b';' => quoted = !quoted,
                    found if found == mark && !quoted => {
                        push(start, at);
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            push(start, to.max(start));
        }
        Separator::Blanks => {
            let bytes = line.as_bytes();
            let mut at = line.len() - line.trim_start().len();
            let mut start = at;
            while at < bytes.len() {
                let blanks =
                    bytes.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == b' ').count();
                if blanks >= 2 {
                    push(start, at);
                    start = at + blanks;
                }
                at += blanks.max(1);
            }
            if start < bytes.len() {
                push(start, bytes.len());
            }
        }
    }
    found
}

/// Takes blanks and quotation marks from a field.
fn trimmed(line: &str, range: Range<usize>) -> Range<usize> {
    let field = line.get(range.clone()).unwrap_or_default();
    let inner = field.trim();
    let from = range.start + (field.len() - field.trim_start().len());
    let bare = inner.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    match bare {
        Some(bare) => from + 1..from + 1 + bare.len(),
        None => from..from + inner.len(),
    }
}

/// Reads a row; `None` where the table is over.
fn cells(line: &str, start: usize, head: &Head) -> Option<Vec<(Range<usize>, Column)>> {
    let shifted = |range: Range<usize>| range.start + start..range.end + start;
    match head.separator {
        Separator::Byte(_) => {
            let fields = fields(line, head.separator);
            let whole = fields.len() == head.columns.len();
            let cells = fields.into_iter().zip(&head.columns);
            whole.then(|| cells.map(|(range, (_, column))| (shifted(range), *column)).collect())
        }
        Separator::Blanks => {
            if line.trim().is_empty() || !line.is_ascii() {
                return None;
            }
            let mut cells = Vec::new();
            for (index, (place, column)) in head.columns.iter().enumerate() {
                let to =
                    head.columns.get(index + 1).map_or(line.len(), |(next, _)| next.start).min(line.len());
                let from = place.start.min(to);
                // A word across the boundary means that this row is no row.
                let before = from.checked_sub(1).and_then(|before| line.as_bytes().get(before));
                if before.is_some_and(|byte| *byte != b' ') {
                    continue;
                }
                cells.push((shifted(trimmed(line, from..to)), *column));
            }
            Some(cells)
        }
    }
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
    fn a_head_names_the_fields_below() {
        check(
            "name,primaryKey\nsa1,Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo=\n",
            &["Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo="],
        );
        check("host\tapi_key\nh1\t0a1b2c3d4e5f60718293a4b5c6d7e8f9\n", &["0a1b2c3d4e5f60718293a4b5c6d7e8f9"]);
        check("| user | password |\n|---|---|\n| ana | hunter2 |\n", &["hunter2"]);
        check("NAME    TOKEN     AGE\nadmin   abc9xyz   3d\n", &["abc9xyz"]);
        check("user,password\nana,\"a,b c\"\n", &["a,b c"]);
    }

    #[test]
    fn the_name_of_a_row_is_a_label() {
        check("Name,SlotSetting,Value\nDB_PASSWORD,False,sesame\nREGION,False,west\n", &["sesame"]);
        check("KeyName\tPermissions\tValue\nkey1\tFULL\tabc9xyzABC\n", &["abc9xyzABC"]);
    }

    #[test]
    fn other_tables_stay() {
        check("name,publicKey\nwg0,Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo=\n", &[]);
        check("Name   Value\nregion   west\n", &[]);
        check("Please set the password, then restart, and wait\nfor one, two, three\n", &[]);
        check("Key,ETag\na/b.txt,9f86d081884c7d659a2feaa0c55ad015\n", &[]);
    }
}
