//! A session's records as text for a human, in the order in which they were written.

use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};

use super::command::summary;
use ghost_shell::audit::{MAX_LINE_BYTES, Verification};

/// A line of the file: a record, or as many bytes as are none.
enum Line {
    Record(Map<String, Value>),
    Bytes(usize),
}

/// Writes the text.
pub(super) fn write(found: &Verification, reader: impl BufRead, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{}", summary(found))?;
    each(reader, |line| match line {
        Line::Record(record) => tell_record(&record, &mut out),
        Line::Bytes(bytes) => writeln!(out, "\n({bytes} bytes that are no record)"),
    })?;
    out.flush()
}

/// Prints one JSON document: what `verify` found, and every line of the file.
pub(super) fn write_json(found: &Verification, reader: impl BufRead, mut out: impl Write) -> io::Result<()> {
    write!(out, "{{\"verification\":{},\"records\":[", json!(found))?;
    let mut separator = "";
    each(reader, |line| {
        let value = match line {
            Line::Record(record) => Value::Object(record),
            Line::Bytes(bytes) => json!({ "unreadable_bytes": bytes }),
        };
        write!(out, "{separator}{value}")?;
        separator = ",";
        Ok(())
    })?;
    writeln!(out, "]}}")?;
    out.flush()
}

fn each(mut reader: impl BufRead, mut take: impl FnMut(Line) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = Vec::new();
    let limit = u64::try_from(MAX_LINE_BYTES + 1).unwrap_or(u64::MAX);
    loop {
        buffer.clear();
        // A longer line comes in parts, none of which is a record.
        if io::Read::take(&mut reader, limit).read_until(b'\n', &mut buffer)? == 0 {
            return Ok(());
        }
        take(match serde_json::from_slice(&buffer) {
            Ok(record) => Line::Record(record),
            Err(_) => Line::Bytes(buffer.len()),
        })?;
    }
}

fn tell_record(record: &Map<String, Value>, out: &mut impl Write) -> io::Result<()> {
    let text = |key: &str| record.get(key).map(printable);
    let mut title: Vec<String> = vec![
        text("at").unwrap_or_default(),
        format!("#{}", text("seq").unwrap_or_default()),
        text("audit_id").unwrap_or_default(),
        text("kind").unwrap_or_default(),
    ];
    title.extend(["verdict", "status", "action", "error"].into_iter().filter_map(text));
    title.extend(text("round").map(|round| format!("round {round}")));
    title.extend(text("exit_code").map(|code| format!("exit {code}")));
    title.extend(record.get("duration_ms").and_then(Value::as_u64).map(seconds));
    writeln!(out, "\n{}", title.join("  "))?;
    if let Some(command) = text("command") {
        writeln!(out, "    $ {command}")?;
    }
    for (key, label) in
        [("reasoning", "wanted because"), ("rule", "rule"), ("reason", "reason"), ("identity", "as")]
    {
        if let Some(value) = text(key) {
            writeln!(out, "    {label}: {value}")?;
        }
    }
    let inner = |outer: &str, key: &str| record.get(outer).and_then(|value| value.get(key)).map(printable);
    if let Some(who) = inner("approver", "who") {
        writeln!(out, "    answered by: {who} at {}", inner("approver", "at").unwrap_or_default())?;
    }
    if let Some(state) = inner("sandbox", "state") {
        writeln!(out, "    sandbox: {state}")?;
    }
    if let (Some(bytes), Some(sha256)) = (inner("evidence", "bytes"), inner("evidence", "sha256")) {
        writeln!(out, "    evidence: {bytes} bytes, sha256 {sha256}")?;
    }
    if let Some(bytes) = inner("torn", "bytes") {
        writeln!(out, "    accounts for {bytes} bytes that a crash left behind")?;
    }
    Ok(())
}

fn seconds(millis: u64) -> String {
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}

/// Turns a value into text that a terminal only prints: no control character, no change of writing direction, nothing
/// that is invisible. A backslash is doubled, so that an escape differs from a backslash that was there.
fn printable(value: &Value) -> String {
    let whole;
    let text = match value {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            whole = value.to_string();
            &whole
        }
    };
    text.chars().fold(String::with_capacity(text.len()), |mut safe, char| {
        match char {
            '"' | '\'' => safe.push(char),
            _ => safe.extend(char.escape_debug()),
        }
        safe
    })
}
