//! Tables: one row a line. A row whose columns say who calls whom becomes the words for it.

use serde_json::Value;

use crate::arrive::{items, said};
use crate::content::block::line_of;

/// At most this many rows of a table are read; Slack allows 100 in a message.
const MAX_ROWS: usize = 120;

/// How deep tables are searched for within other blocks.
const MAX_DEPTH: usize = 4;

/// Words above a column that names who calls.
const FROM: &[&str] =
    &["from", "source", "src", "client", "caller", "von", "quelle", "origen", "sourcehost", "sourcevm"];

/// Words above a column that names who is called.
const TO: &[&str] = &[
    "to",
    "destination",
    "dest",
    "dst",
    "target",
    "server",
    "callee",
    "nach",
    "ziel",
    "destino",
    "desthost",
    "backend",
];

/// Words above a column that names the port.
const PORT: &[&str] = &["port", "dport", "dstport", "destport", "destinationport", "puerto", "tcpport"];

/// Words above a column that says how it went.
const RESULT: &[&str] =
    &["result", "status", "state", "error", "outcome", "check", "ergebnis", "estado", "response", "message"];

/// Words of a result that say that it works.
const WORKS: &[&str] = &[
    "ok",
    "okay",
    "up",
    "pass",
    "passed",
    "success",
    "successful",
    "healthy",
    "open",
    "connected",
    "200",
    "works",
    "reachable",
    "✅",
    ":white_check_mark:",
];

/// Returns the tables among blocks, each as a text.
pub(super) fn tables(blocks: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    for block in blocks {
        gather(block, 0, &mut found);
    }
    found
}

fn gather(block: &Value, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    if matches!(said(block, &["type"]).as_str(), "table" | "data_table") {
        let rows = items(block, &["rows"]).iter().take(MAX_ROWS).map(cells).collect();
        found.push(text(rows));
        return;
    }
    for name in ["blocks", "elements", "children"] {
        items(block, &[name]).iter().for_each(|inner| gather(inner, depth + 1, found));
    }
}

fn cells(row: &Value) -> Vec<String> {
    let list = row.as_array().map_or_else(|| items(row, &["cells"]), Vec::as_slice);
    list.iter().map(line_of).collect()
}

/// What the columns hold, by the words above them.
#[derive(Default)]
struct Columns {
    from: Option<usize>,
    to: Option<usize>,
    port: Option<usize>,
    result: Option<usize>,
}

impl Columns {
    fn of(head: &[String]) -> Self {
        let bare = |cell: &String| -> String {
            cell.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let place = |words: &[&str]| head.iter().position(|cell| words.contains(&bare(cell).as_str()));
        Self { from: place(FROM), to: place(TO), port: place(PORT), result: place(RESULT) }
    }
}

fn text(rows: Vec<Vec<String>>) -> String {
    let columns = rows.first().map(|head| Columns::of(head)).unwrap_or_default();
    let (Some(from), Some(to)) = (columns.from, columns.to) else {
        let joined = rows.iter().map(|row| row.join("  ").trim().to_owned());
        return joined.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    };
    let cell = |row: &[String], at: Option<usize>| {
        at.and_then(|at| row.get(at)).map(|cell| cell.trim().to_owned()).unwrap_or_default()
    };
    let mut lines = Vec::new();
    for row in rows.iter().skip(1) {
        let (source, target) = (cell(row, Some(from)), cell(row, Some(to)));
        if source.is_empty() || target.is_empty() {
            continue;
        }
        let (port, result) = (cell(row, columns.port), cell(row, columns.result));
        let number = port.rsplit(['/', ' ']).next().unwrap_or_default();
        let protocol = if port.to_lowercase().starts_with("udp") { " over udp" } else { "" };
        let end = match number.parse::<u16>() {
            Ok(number) => format!("{target} on port {number}{protocol}"),
            Err(_) => target,
        };
        lines.push(match (result.is_empty(), works(&result)) {
            (_, true) => format!("{source} reaches {end}, that works."),
            (true, false) => format!("{source} cannot reach {end}."),
            (false, false) => format!("{source} cannot reach {end}: {result}."),
        });
    }
    lines.join("\n")
}

fn works(result: &str) -> bool {
    let result = result.to_lowercase();
    let mut words =
        result.split(|char: char| char.is_whitespace() || matches!(char, ',' | '(' | ')' | '!' | '.'));
    words.any(|word| WORKS.contains(&word)) && !["not", "no", "un"].iter().any(|no| result.starts_with(no))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_says_who_cannot_reach_whom() {
        let cell = |text: &str| json!({"type": "raw_text", "text": text});
        let rich = json!({"type": "rich_text", "elements": [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "db-1", "style": {"bold": true}}]},
        ]});
        let table = json!([{"type": "table", "rows": [
            [cell("Source"), cell("Destination"), cell("Port"), cell("Result")],
            [cell("web-1"), rich, cell("5432"), cell("timeout")],
            [cell("web-2"), cell("db-1"), cell("tcp/5432"), cell("OK")],
            [cell(""), cell("x"), cell(""), cell("")],
        ]}]);
        assert_eq!(
            tables(table.as_array().unwrap()),
            ["web-1 cannot reach db-1 on port 5432: timeout.\nweb-2 reaches db-1 on port 5432, that works."]
        );
    }

    #[test]
    fn a_table_of_anything_keeps_its_cells_and_an_odd_one_is_empty() {
        let table = json!([
            {"type": "table", "rows": [[{"type": "raw_text", "text": "host"}, {"type": "raw_number", "text": "7"}], ["a", 3]]},
            {"type": "table", "rows": "none"}, {"type": "table"}, {"type": "table", "rows": [null, 7, [null]]},
        ]);
        assert_eq!(tables(table.as_array().unwrap()), ["host  7\na  3", "", "", ""]);
    }
}
