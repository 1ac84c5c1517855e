//! Columns below their names.

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::json::plain;
use super::query::Answered;
use crate::az::table::Row;

/// What no table shows unless it was asked for.
const SKIPPED: [&str; 3] = ["id", "type", "etag"];

/// Writes a table. A value that is a list or an object has no column.
pub(in crate::az) fn table(answered: &Answered, row: Option<Row>, field: &str) -> String {
    let document = match answered.document.get(field).filter(|_| !field.is_empty() && !answered.asked) {
        Some(inner) => inner,
        None => &answered.document,
    };
    let entries: Vec<&Value> = match document {
        Value::Array(list) => list.iter().collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            vec![other]
        }
    };
    let rows: Vec<Vec<(String, String)>> = entries
        .into_iter()
        .map(|entry| match row.filter(|_| !answered.asked) {
            Some(row) => {
                row(entry).into_iter().map(|(name, value)| (name.to_owned(), shown(&value))).collect()
            }
            None => cells(answered, entry),
        })
        .filter(|row: &Vec<_>| !row.is_empty())
        .collect();
    written(&rows)
}

fn shown(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain(value) }
}

fn cells(answered: &Answered, entry: &Value) -> Vec<(String, String)> {
    let single = |value: &&Value| !matches!(value, Value::Array(_) | Value::Object(_) | Value::Null);
    match entry {
        Value::Object(map) => answered
            .names(map)
            .into_iter()
            .filter(|name| answered.asked || !SKIPPED.contains(name))
            .filter_map(|name| map.get(name).filter(single).map(|value| (capital(name), plain(value))))
            .collect(),
        Value::Array(list) => {
            let cell = |(at, value): (usize, &Value)| (format!("Column{}", at + 1), shown(value));
            list.iter().enumerate().map(cell).collect()
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            vec![("Result".to_owned(), shown(other))]
        }
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Writes rows: each column as wide as its widest value, two blanks between columns, nothing at the end of a line.
fn written(rows: &[Vec<(String, String)>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return "\n".to_owned();
    }
    let cell = |row: &[(String, String)], name: &str| {
        row.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let widths: Vec<usize> = names
        .iter()
        .map(|name| {
            let values =
                rows.iter().flat_map(|row| cell(row, name).lines().map(|line| line.width()).max()).max();
            // The real one leaves two more for a name than the name is wide.
            (name.width() + 2).max(values.unwrap_or_default())
        })
        .collect();
    let mut text = line(&names.iter().map(ToString::to_string).collect::<Vec<_>>(), &widths);
    text.push_str(&line(&widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>(), &widths));
    for row in rows {
        text.push_str(&line(&names.iter().map(|name| cell(row, name)).collect::<Vec<_>>(), &widths));
    }
    text
}

/// Writes a row; a value of several lines makes several lines.
fn line(cells: &[String], widths: &[usize]) -> String {
    let high = cells.iter().map(|cell| cell.lines().count()).max().unwrap_or_default().max(1);
    let mut text = String::new();
    for at in 0..high {
        let mut out = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let part = cell.lines().nth(at).unwrap_or_default();
            if column > 0 {
                out.push_str("  ");
            }
            out.push_str(part);
            (part.width()..*width).for_each(|_| out.push(' '));
        }
        text.push_str(out.trim_end());
        text.push('\n');
    }
    text
}
