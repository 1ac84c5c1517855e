//! Facts about the repository itself: its documents, versions, locks and workflows.

mod advisory;
mod example;
mod example_run;
mod link;
mod lock;
mod package;
mod page;
mod version;
mod workflow;

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Folders whose Markdown files are documents.
const FOLDERS: [&str; 5] = [".github", "benches", "demo", "deploy", "docs"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every Markdown document of the repository, by its path from the top.
fn documents() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    let mut keep = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            found.insert(name, std::fs::read_to_string(path).unwrap());
        }
    };
    let entries = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(root()).filter(|path| path.is_file()).for_each(&mut keep);
    while let Some(folder) = open.pop() {
        for path in entries(folder) {
            if path.is_dir() { open.push(path) } else { keep(path) }
        }
    }
    found
}

#[track_caller]
fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
