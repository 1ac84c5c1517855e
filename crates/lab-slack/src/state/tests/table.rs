//! The table of what is here, held against the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::state::method::METHODS;

pub(super) const TABLE: &str = include_str!("../../person/fidelity.md");

/// Tells whether something has a row of its own.
pub(super) fn has_row(name: &str) -> bool {
    TABLE.lines().any(|line| line.starts_with(&format!("| `{name}` | ")))
}

/// What is written behind `"type":` in a source, also where a condition picks it.
fn types(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, mark) in source.match_indices("\"type\"") {
        let rest = source.get(at + mark.len()..).unwrap();
        let Some(rest) = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(", json!(")) else { continue };
        let end = rest.find([',', ')', '\n']).unwrap_or(rest.len());
        let value = rest.get(..end).unwrap();
        if value.starts_with('"') || value.starts_with("if ") {
            found.extend(value.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

#[test]
fn every_method_has_a_row() {
    let missing: Vec<&str> = METHODS.iter().map(|method| method.name).filter(|name| !has_row(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_method_of_the_table_is_answered() {
    let rows = TABLE.split("\nMethods\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in rows.lines().filter(|line| line.starts_with("| `") && !line.contains("not there")) {
        let name = line.split('`').nth(1).unwrap();
        assert!(METHODS.iter().any(|method| method.name == name), "{name}");
    }
}

#[test]
fn every_type_that_the_state_writes_has_a_row() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/state");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            found.extend(types(source.split("#[cfg(test)]\nmod tests").next().unwrap()));
        }
    }
    // What wraps an event, and what names a place or a thing in a payload, is no event of its own.
    let inner = [
        "event_callback",
        "view",
        "message_attachment",
        "slack#/types/channel_id",
        "delayed_message",
        "markdown_text",
    ];
    let missing: Vec<&String> =
        found.iter().filter(|kind| !has_row(kind) && !inner.contains(&kind.as_str())).collect();
    assert!(found.contains("reaction_removed") && found.contains("app_mention"), "{found:?}");
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_row_says_how_much_is_here() {
    let rows = TABLE.lines().filter(|line| line.starts_with("| `"));
    let before = TABLE.split("\nHow much is kept\n").next().unwrap();
    for line in rows.filter(|line| before.contains(line)) {
        let verdict = line.split(" | ").nth(1).unwrap();
        let known = ["faithful", "partly: ", "not there"].iter().any(|word| verdict.starts_with(word));
        assert!(known, "{line}");
    }
}
