//! Facts about `deploy/`: what is there can be read, fits together, and is what its page says.

mod azure;
mod chart;
mod config;
mod image;
mod kubernetes;
mod monitoring;
mod page;
mod unit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the top of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every file below `deploy/` that git would keep, with its path from the top and its text.
fn files() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root().join("deploy")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            // What a person made beside the files, as the page says.
            if matches!(name.as_str(), "deploy/.env" | "deploy/secret" | "deploy/kubernetes/secret.yaml") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Returns the words of a text that are made of the characters of names and paths.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !(char.is_ascii_alphanumeric() || "_-./".contains(char)))
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| !word.is_empty())
}

/// Returns the cells of every row of every table of a page.
fn rows(page: &str) -> Vec<Vec<&str>> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").map(str::trim).collect())
        .collect()
}

#[track_caller]
fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_file_can_be_read_as_what_it_is() {
    for (path, text) in files() {
        // Templates of the chart are no YAML before Helm has rendered them.
        if path.starts_with("deploy/chart/templates/") {
            continue;
        }
        match Path::new(&path).extension().and_then(|ending| ending.to_str()) {
            Some("yaml") => assert!(!crate::yaml::documents(&path).is_empty(), "{path}"),
            Some("json") => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap()),
            Some("toml") => drop(text.parse::<toml::Table>().unwrap()),
            Some("md" | "sh" | "service" | "env" | "dockerignore" | "helmignore" | "tf" | "hcl") | None => {}
            Some(other) => panic!("{path}: nobody has said how .{other} is read"),
        }
    }
}
