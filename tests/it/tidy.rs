//! Rules about the source that no compiler holds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms a room may name. A room that is not here may name none.
const ARROWS: [(&str, &[&str]); 22] = [
    (
        "agent",
        &[
            "base",
            "capture",
            "cloud",
            "effective",
            "meter",
            "net",
            "netfilter",
            "nsg",
            "pcap",
            "probe",
            "qdisc",
            "route",
            "shell",
        ],
    ),
    ("base", &[]),
    ("bot", &["agent", "base", "http", "session", "shell", "slack", "store"]),
    ("capture", &["base", "cloud", "pcap", "shell"]),
    ("cloud", &["base", "shell"]),
    ("effective", &["base", "net", "nsg", "route"]),
    ("http", &["base"]),
    ("lab", &["base", "effective", "net", "netfilter", "nsg", "pcap", "qdisc", "route", "shell"]),
    ("meter", &["base", "cloud", "nsg", "pcap"]),
    ("net", &[]),
    ("netfilter", &["base"]),
    ("nsg", &["net"]),
    ("pcap", &[]),
    ("probe", &["base", "cloud", "effective", "netfilter", "qdisc", "shell"]),
    ("qdisc", &[]),
    ("route", &["net"]),
    ("shell", &["base"]),
    ("session", &["agent", "base", "capture", "shell", "store"]),
    ("slack", &["base"]),
    ("store", &["base"]),
    ("config", &["base", "shell"]),
    (
        "cli",
        &[
            "agent",
            "base",
            "bot",
            "capture",
            "cloud",
            "config",
            "effective",
            "http",
            "lab",
            "meter",
            "net",
            "netfilter",
            "nsg",
            "pcap",
            "probe",
            "qdisc",
            "route",
            "session",
            "shell",
            "slack",
            "store",
        ],
    ),
];

/// The two files that start processes: the shell's, and that of the lab's namespaces.
const STARTS_PROCESSES: [&str; 2] = ["src/shell/exec.rs", "src/lab/host/exec.rs"];

/// The files that name a human: each is an approver.
const NAMES_A_REVIEWER: [&str; 5] = [
    "src/session/approver.rs",
    "src/shell/approve/deny.rs",
    "src/shell/approve/terminal.rs",
    "src/shell/gate/plan.rs",
    "src/shell/permit.rs",
];

const LONGEST_FILE: usize = 500;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every file below a folder whose name ends so, with its path from the top and its text.
fn files(folder: &str, ending: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                // Captures among the fixtures are no texts.
                found.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    found
}

/// Returns the lines of a file that are product code: up to the tests, without comments.
fn product(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text.get(..end).unwrap().lines().enumerate();
    lines
        .map(|(at, line)| (at + 1, line.split("//").next().unwrap()))
        .filter(|(_, line)| !line.trim().is_empty())
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

#[track_caller]
fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn a_room_names_only_the_rooms_that_it_may() {
    let mut problems = Vec::new();
    for (path, text) in files("src", ".rs") {
        let Some(room) =
            Path::new(&path).components().nth(1).map(|part| part.as_os_str().to_string_lossy().into_owned())
        else {
            continue;
        };
        // Tests drive a room with the others.
        if room.ends_with(".rs") || is_test(&path) {
            continue;
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
            problems.push(format!("{path}: the room `{room}` is not in the table of arrows"));
            continue;
        };
        for (line, code) in product(&text) {
            for part in code.split("crate::").skip(1) {
                let named: String =
                    part.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '_').collect();
                if named != room && !named.is_empty() && !allowed.contains(&named.as_str()) {
                    problems.push(format!("{path}:{line}: `{room}` may not name `{named}`"));
                }
            }
            if code.contains("super::super") {
                problems.push(format!("{path}:{line}: write the path from `crate::`"));
            }
        }
    }
    none(problems);
}

#[test]
fn no_file_is_so_long_that_a_second_room_hides_in_it() {
    let long = |(path, text): (String, String)| {
        let lines = text.lines().count();
        (lines > LONGEST_FILE).then(|| format!("{path}: {lines} lines"))
    };
    none(files("src", ".rs").into_iter().chain(files("tests", ".rs")).filter_map(long).collect());
}

#[test]
fn a_mod_file_holds_only_documentation_modules_and_names() {
    let mut problems = Vec::new();
    for (path, text) in files("src", "/mod.rs").into_iter().filter(|(path, _)| !is_test(path)) {
        for (line, code) in product(&text) {
            let item = code
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub(super) ")
                .trim_start_matches("pub ");
            if ["fn ", "impl", "struct ", "enum ", "trait ", "static "]
                .iter()
                .any(|word| item.starts_with(word))
            {
                problems.push(format!("{path}:{line}: {code}"));
            }
        }
    }
    none(problems);
}

#[test]
fn two_files_start_processes() {
    let starts = |(path, text): &(String, String)| {
        !is_test(path)
            && !STARTS_PROCESSES.contains(&path.as_str())
            && product(text).any(|(_, code)| code.contains("Command::new"))
    };
    none(files("src", ".rs").into_iter().filter(starts).map(|(path, _)| path).collect());
}

#[test]
fn only_an_approver_names_a_reviewer() {
    let names = |(path, text): &(String, String)| {
        !is_test(path)
            && !NAMES_A_REVIEWER.contains(&path.as_str())
            && product(text).any(|(_, code)| code.contains("Reviewer::new"))
    };
    none(files("src", ".rs").into_iter().filter(names).map(|(path, _)| path).collect());
}

#[test]
fn every_file_begins_with_what_it_is_about() {
    let silent = |(_, text): &(String, String)| !text.starts_with("//!");
    none(files("src", ".rs").into_iter().filter(silent).map(|(path, _)| path).collect());
}

#[test]
fn every_module_is_reached_by_its_room() {
    let all = files("src", ".rs");
    let mut problems = Vec::new();
    for path in all
        .keys()
        .filter(|path| !path.ends_with("/mod.rs") && !matches!(path.as_str(), "src/lib.rs" | "src/main.rs"))
    {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let parent = if folder == "src" { "src/lib.rs".to_owned() } else { format!("{folder}/mod.rs") };
        let stem = name.trim_end_matches(".rs");
        if !all.get(&parent).is_some_and(|text| text.contains(&format!("mod {stem};"))) {
            problems.push(format!("{path} is not a module of {parent}"));
        }
    }
    none(problems);
}

#[test]
fn every_fixture_is_used() {
    let tests: String =
        files("tests", ".rs").into_values().chain(files("src", ".rs").into_values()).collect();
    let unused = |path: &String| {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let room = folder.trim_start_matches("tests/");
        // Of a tree that is read as a whole only its top is named.
        let trees = Path::new(room).ancestors().filter(|tree| tree.components().count() >= 3);
        let named = |tree: &Path| tests.contains(tree.to_string_lossy().trim_start_matches("fixtures/"));
        let read = trees.into_iter().any(named);
        !tests.contains(name) && !tests.contains(room) && !read
    };
    let fixtures = root().join("tests/fixtures");
    let names =
        if fixtures.is_dir() { files("tests/fixtures", "").into_keys().collect() } else { Vec::new() };
    none(names.into_iter().filter(unused).collect());
}

#[test]
fn the_architecture_names_every_room() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let missing = |(room, _): &&(&str, &[&str])| !text.contains(&format!("{room}/"));
    none(
        ARROWS
            .iter()
            .filter(missing)
            .map(|(room, _)| format!("ARCHITECTURE.md does not speak of {room}/"))
            .collect(),
    );
}

#[test]
fn contributing_says_why_each_dependency_is_there() {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let names = ["dependencies", "dev-dependencies"]
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table())
        .flat_map(|table| table.keys());
    none(
        names
            .filter(|name| !text.contains(&format!("`{name}`")))
            .map(|name| format!("CONTRIBUTING.md does not say why `{name}` is there"))
            .collect(),
    );
}
