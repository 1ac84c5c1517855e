//! What each crate brings along when it is published, and that it can be taken out. `tests/package` packs and compiles them.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::project::{none, root};

/// How many lines a README of one screen has.
const MAX_README_LINES: usize = 45;

/// The crates that are made to be used alone; each has a program that shows how.
const ALONE: [&str; 3] = ["inspect", "pcap", "shell"];

/// Returns the folders of the crates below `crates/`.
fn crates() -> Vec<PathBuf> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    assert!(folders.len() >= 10, "{folders:?}");
    folders
}

fn manifest(folder: &Path) -> toml::Table {
    fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap()
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

/// Lists the source files below a folder that are product code, with their text.
fn product(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.join("src")];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && !path.ends_with("tests") {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
                found.push((path, text[..end].to_owned()));
            }
        }
    }
    found
}

#[test]
fn each_crate_says_what_it_is_and_brings_its_licenses() {
    let mut problems = Vec::new();
    for folder in crates() {
        let (name, manifest) = (name(&folder), manifest(&folder));
        let package = &manifest["package"];
        for field in ["description", "keywords", "readme", "version", "license", "categories", "rust-version"]
        {
            if package.get(field).is_none() {
                problems.push(format!("{name}: no {field}"));
            }
        }
        let keywords = package["keywords"].as_array().unwrap();
        // crates.io takes at most five, of at most twenty characters each.
        if keywords.len() > 5 || keywords.iter().any(|word| word.as_str().unwrap().len() > 20) {
            problems.push(format!("{name}: {keywords:?}"));
        }
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let own = fs::read_to_string(folder.join(license)).unwrap_or_default();
            if own != fs::read_to_string(root().join(license)).unwrap() {
                problems.push(format!("{name}: {license} is not the project's"));
            }
        }
    }
    none(problems);
}

#[test]
fn each_crate_has_a_readme_of_one_screen_with_an_example_that_is_compiled() {
    let mut problems = Vec::new();
    for folder in crates() {
        let name = name(&folder);
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let library = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        if readme.lines().count() > MAX_README_LINES {
            problems.push(format!("{name}: its README has more than {MAX_README_LINES} lines"));
        }
        if !readme.contains("\n```rust\n") {
            problems.push(format!("{name}: its README shows no example"));
        }
        if !library.contains("#![cfg_attr(doctest, doc = include_str!(\"../README.md\"))]") {
            problems.push(format!("{name}: nothing compiles the example of its README"));
        }
        let has_program = folder.join("examples").is_dir();
        if ALONE.contains(&name.as_str()) != has_program {
            problems.push(format!("{name}: examples/ is for the crates that are made to be used alone"));
        }
    }
    none(problems);
}

#[test]
fn no_crate_reads_a_file_outside_of_itself() {
    let mut problems = Vec::new();
    for folder in crates() {
        for (path, text) in product(&folder) {
            for named in text.split("include_").skip(1).filter_map(|part| part.split('"').nth(1)) {
                // A link inside the crate is packed as the file that it leads to.
                let mut file = path.parent().unwrap().to_owned();
                for part in Path::new(named).components() {
                    if part == Component::ParentDir {
                        file.pop();
                    } else {
                        file.push(part);
                    }
                }
                if !file.starts_with(&folder) {
                    problems.push(format!("{}: {named}", path.display()));
                }
            }
        }
    }
    none(problems);
}
