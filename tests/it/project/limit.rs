//! Limits of how much is judged: each has a name, and a test lowers it and expects no claim of health.

use std::fs;
use std::path::PathBuf;

use crate::project::{none, root};

/// Limits that only a session reaches which reads many machines or clusters: what is cut off there is recorded by the same line as elsewhere.
const OF_LARGE_SESSIONS: [&str; 8] = [
    "cluster.clusters",
    "cluster.nodes",
    "filter.devices",
    "host.hosts",
    "naming.targets",
    "path.beside",
    "path.callers",
    "path.targets",
];

/// Constants of the inspectors that shorten what is shown, cited or taken from words, and never what is judged.
const OF_WHAT_IS_SHOWN: [&str; 14] = [
    "MAX_CAUSES",
    "MAX_CHANGES",
    "MAX_CITED",
    "MAX_CLOSED",
    "MAX_DOCUMENT_BYTES",
    "MAX_EVENTS",
    "MAX_LINES",
    "MAX_LISTED",
    "MAX_MISSING",
    "MAX_NAMED",
    "MAX_NEAREST",
    "MAX_NOTICED",
    "MAX_SENTENCE_CHARS",
    "MAX_SUSPECTS",
];

/// Returns all source files below some folders, with their text.
fn sources(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && !path.ends_with("target") {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// Returns what stands in a file for tests alone.
fn tests<'a>(path: &std::path::Path, text: &'a str) -> &'a str {
    let is_test = path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests");
    let from = if is_test { Some(0) } else { text.find("#[cfg(test)]\nmod tests {") };
    from.and_then(|from| text.get(from..)).unwrap_or_default()
}

#[test]
fn every_limit_that_cuts_off_what_is_judged_is_lowered_by_a_test() {
    let all = sources(&["crates", "src"]);
    let mut problems = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (path, text) in &all {
        let product = &text[..text.len() - tests(path, text).len()];
        let own = product.split("Limit::new(\"").skip(1).filter_map(|rest| rest.split('"').next());
        names.extend(own.map(str::to_owned));
    }
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let quoted = format!("\"{name}\"");
        let is_lowered = all.iter().any(|(path, text)| tests(path, text).contains(&quoted));
        if is_lowered == OF_LARGE_SESSIONS.contains(&name.as_str()) {
            problems.push(format!("{name}: no test lowers it, or it is listed as one that none can"));
        }
    }
    for (path, text) in sources(&["crates/investigate/src/tool/inspect"]) {
        for rest in text.split("const MAX_").skip(1) {
            let name = format!("MAX_{}", rest.split(':').next().unwrap_or_default());
            if !OF_WHAT_IS_SHOWN.contains(&name.as_str()) {
                problems.push(format!("{}: {name}: a limit of what is judged is a `Limit`", path.display()));
            }
        }
    }
    none(problems);
}
