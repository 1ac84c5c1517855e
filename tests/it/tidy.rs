//! Rules about the source that no compiler holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which crates of ours a crate may depend on; Cargo holds it, this table keeps it from growing unseen.
const CRATES: [(&str, &[&str]); 15] = [
    ("base", &[]),
    ("shell", &["base"]),
    ("inspect", &["base"]),
    ("plot", &[]),
    ("pcap", &["plot"]),
    ("cloud", &["base", "inspect", "plot", "shell"]),
    ("capture-files", &["base", "cloud", "pcap"]),
    ("investigate", &["base", "cloud", "inspect", "plot", "shell"]),
    ("store", &["base"]),
    ("session", &["base", "investigate", "shell", "store"]),
    ("tools", &["base", "cloud", "inspect", "investigate", "session", "shell", "store"]),
    ("slack", &["base"]),
    ("lab", &["base", "inspect", "shell"]),
    ("lab-slack", &["base"]),
    (
        "",
        &[
            "base",
            "capture-files",
            "cloud",
            "inspect",
            "investigate",
            "lab",
            "lab-slack",
            "pcap",
            "session",
            "shell",
            "slack",
            "store",
            "tools",
        ],
    ),
];

/// Names, each with those that it may name.
type Arrows = &'static [(&'static str, &'static [&'static str])];

/// Which modules a top module of a crate may name, where a crate holds several. One that is not here may name none.
const MODULES: [(&str, Arrows); 4] = [
    (
        "src",
        &[
            ("bot", &["http", "telemetry"]),
            ("http", &[]),
            ("telemetry", &["direct", "http"]),
            ("export", &["direct"]),
            ("cli", &["bot", "export", "http", "telemetry"]),
        ],
    ),
    ("crates/session/src", &[("alert", &[])]),
    ("crates/tools/src", &[("config", &[]), ("global", &[]), ("print", &[])]),
    (
        "crates/inspect/src",
        &[
            ("net", &[]),
            ("route", &["net"]),
            ("nsg", &["net"]),
            ("effective", &["net", "nsg", "route"]),
            ("netfilter", &[]),
            ("qdisc", &[]),
            ("measured", &[]),
            ("host", &["measured", "netfilter", "qdisc"]),
            ("cluster", &["net", "netfilter"]),
            ("path", &["flowlog", "measured", "net", "netfilter", "nsg", "qdisc", "route"]),
        ],
    ),
];

/// The two files that start processes: the shell's, and that of the lab's namespaces.
const STARTS_PROCESSES: [&str; 2] = ["crates/shell/src/exec.rs", "crates/lab/src/host/exec.rs"];

/// The files that name a human: each is an approver.
const NAMES_A_REVIEWER: [&str; 9] = [
    "crates/session/src/approver.rs",
    "crates/session/src/outside/approver.rs",
    "crates/tools/src/hook/slack.rs",
    "crates/tools/src/hook/doctor.rs",
    "crates/shell/examples/approver.rs",
    "crates/shell/src/approve/port.rs",
    "crates/shell/src/approve/terminal.rs",
    "crates/shell/src/gate/plan.rs",
    "crates/shell/src/permit.rs",
];

const MAX_FILE_LINES: usize = 700;

/// Metaphors that are neither part of a name nor a word of prose: readers search for the words of the field.
const FORBIDDEN_WORDS: [&str; 26] = [
    "kitchen", "desk", "bench", "kit", "errand", "heard", "told", "bears", "ear", "brief", "ground", "cast",
    "story", "slate", "chore", "hands", "courier", "brake", "workshop", "barred", "door", "piece", "looks",
    "way", "stories", "briefs",
];

/// The folders that are free of these words.
const PLAIN_FOLDERS: [&str; 6] = ["crates", "demo", "deploy", "docs", "src", "tests"];

/// The file that lists these words.
const LISTS_FORBIDDEN_WORDS: &str = "tests/it/tidy.rs";

/// Where a forbidden word stays: names on the wire, options of other programs, lints, and what people wrote. Each is the
/// beginning of a path and the text in it.
const FORBIDDEN_WORDS_ALLOWED: &[(&str, &str)] = &[
    ("", "clippy::cast_possible_truncation"),
    ("", "clippy::cast_precision_loss"),
    ("", "clippy::cast_sign_loss"),
    ("crates", "cast_signed"),
    ("crates/lab", "\"-brief\""),
    ("crates/lab/src/azure/identity.rs", "azureFrontDoorEndpointSuffix"),
    ("crates/lab-slack/src/page/emoji.js", "_hands"),
    ("crates/lab-slack/src/page/emoji.js", "milky_way"),
    ("crates/lab-slack/src/page/play.js", "An investigation is under way."),
    ("crates/lab-slack/src/page/play.js", "answer.told"),
    ("crates/pcap/src", "\"in_pieces\""),
    ("crates/pcap/src/compare/verdict.rs", "\"other_way\""),
    ("crates/shell/src/policy", "-brief"),
    ("crates/shell/src/policy/cloud.toml", "front-door"),
    ("", "\"told\""),
    ("", "\"way_back\""),
    ("", "one_way\""),
    ("", "under_way"),
    ("", "\"bench\""),
    ("", "shell bench"),
    ("docs/tools/shell.md", "`bench`"),
    ("", "Ping works both ways."),
    ("", "The account looks healthy"),
    ("src/bot/show/board.rs", "told by a script"),
    ("src/bot/show/modal/deny.rs", "looks for another way."),
    // Words of people, and names in records that are kept.
    ("crates/investigate/src/complaint", "looks "),
    ("crates/investigate/src/complaint/words.toml", ", \"door\"]"),
    ("crates/investigate/src/complaint/words.toml", " door\""),
    ("crates/investigate/src/complaint/tests/written.rs", " wordt door "),
    ("crates/investigate/src/complaint/words.toml", "\"barred from\""),
    ("crates/investigate/src/tool/run_shell_cmd.rs", "look for another way to test"),
    ("crates/investigate/src/symptom_text/symptom.rs", "\"looks fine\""),
    ("crates/investigate/src", "\"chore\""),
    ("crates/investigate/src/report/chart.rs", "\\\"chore\\\""),
];

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

/// Returns every source file of the application and of the crates.
fn source() -> BTreeMap<String, String> {
    let mut all = files("src", ".rs");
    all.extend(files("crates", ".rs"));
    all
}

/// Returns the folder of sources that a path is below: `src`, or `crates/…/src`.
fn sources_of(path: &str) -> &str {
    path.split_inclusive("src/").next().unwrap().trim_end_matches('/')
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
fn a_crate_depends_only_on_the_crates_that_it_may() {
    let mut problems = Vec::new();
    for (name, allowed) in CRATES {
        let path =
            if name.is_empty() { "Cargo.toml".to_owned() } else { format!("crates/{name}/Cargo.toml") };
        let manifest: toml::Table = fs::read_to_string(root().join(&path)).unwrap().parse().unwrap();
        for dependency in manifest["dependencies"].as_table().unwrap().keys() {
            let Some(ours) = dependency.strip_prefix("ghost-") else { continue };
            if !allowed.contains(&ours) {
                problems.push(format!("{path}: ghost-{name} may not depend on {dependency}"));
            }
        }
    }
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if !CRATES.iter().any(|(known, _)| *known == name) {
            problems.push(format!("crates/{name} is not in the table of crates"));
        }
    }
    none(problems);
}

#[test]
fn a_module_names_only_the_modules_that_it_may() {
    let mut problems = Vec::new();
    for (path, text) in source() {
        // Tests drive a module with the others.
        if is_test(&path) {
            continue;
        }
        let below = sources_of(&path);
        let modules =
            MODULES.iter().find(|(folder, _)| *folder == below).map_or(&[][..], |(_, modules)| modules);
        let own = path.strip_prefix(below).unwrap().trim_start_matches('/').split('/').next().unwrap();
        let allowed = modules.iter().find(|(name, _)| *name == own).map(|(_, allowed)| *allowed);
        for (line, code) in product(&text) {
            // The program's own part of the application names the rest by the name of the library.
            for part in code.replace("ghost_agent::", "crate::").split("crate::").skip(1) {
                let named: String =
                    part.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '_').collect();
                if allowed.is_some_and(|allowed| {
                    named != own && !named.is_empty() && !allowed.contains(&named.as_str())
                }) {
                    problems.push(format!("{path}:{line}: `{own}` may not name `{named}`"));
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
fn no_file_is_too_long() {
    let long = |(path, text): (String, String)| {
        let lines = text.lines().count();
        (lines > MAX_FILE_LINES).then(|| format!("{path}: {lines} lines"))
    };
    none(source().into_iter().chain(files("tests", ".rs")).filter_map(long).collect());
}

#[test]
fn a_mod_file_holds_only_documentation_modules_and_names() {
    let mut problems = Vec::new();
    for (path, text) in source()
        .into_iter()
        .filter(|(path, _)| !is_test(path) && (path.ends_with("/mod.rs") || path.ends_with("/lib.rs")))
    {
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

/// Returns the words of a text in lower case: those of prose, and the parts of names in any case.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    for char in text.chars() {
        let is_upper = char.is_ascii_uppercase();
        let after_upper = word.ends_with(|last: char| last.is_ascii_uppercase());
        // `ReadDoor` and `HTTPDoor` are two words each.
        let next = if !char.is_ascii_alphabetic() || (is_upper && !after_upper) {
            Some(String::new())
        } else if !is_upper && after_upper && word.len() > 1 {
            word.pop().map(String::from)
        } else {
            None
        };
        if let Some(next) = next {
            found.push(std::mem::replace(&mut word, next).to_lowercase());
        }
        if char.is_ascii_alphabetic() {
            word.push(char);
        }
    }
    found.push(word.to_lowercase());
    found
}

#[test]
fn words_are_parts_of_names_and_of_prose() {
    let all = words("a HTTPDoor, told_by `readKit`; doorway");
    let all: Vec<&str> = all.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    assert_eq!(all, ["a", "http", "door", "told", "by", "read", "kit", "doorway"]);
}

#[test]
fn names_and_prose_are_words_of_the_field() {
    let is_forbidden = |word: &str| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        FORBIDDEN_WORDS.iter().any(|forbidden| *forbidden == word || *forbidden == singular)
    };
    let mut problems = Vec::new();
    let mut unused: BTreeSet<_> = FORBIDDEN_WORDS_ALLOWED.iter().collect();
    for (path, text) in PLAIN_FOLDERS.iter().flat_map(|folder| files(folder, "")) {
        let is_text = [".rs", ".md", ".toml", ".js"].iter().any(|ending| path.ends_with(ending));
        if !is_text || path == LISTS_FORBIDDEN_WORDS || path.contains("/fixtures/") {
            continue;
        }
        for (line, text) in text.lines().enumerate() {
            let mut rest = text.to_owned();
            for allowed @ (folder, name) in FORBIDDEN_WORDS_ALLOWED {
                if path.starts_with(folder) && rest.contains(name) {
                    rest = rest.replace(name, "");
                    unused.remove(allowed);
                }
            }
            let found: Vec<String> = words(&rest).into_iter().filter(|word| is_forbidden(word)).collect();
            if !found.is_empty() {
                problems.push(format!("{path}:{}: {}", line + 1, found.join(", ")));
            }
        }
    }
    problems
        .extend(unused.iter().map(|(path, name)| format!("nothing below `{path}` holds {name} any more")));
    none(problems);
}

#[test]
fn two_files_start_processes() {
    let starts = |(path, text): &(String, String)| {
        !is_test(path)
            && !STARTS_PROCESSES.contains(&path.as_str())
            && product(text).any(|(_, code)| code.contains("Command::new"))
    };
    none(source().into_iter().filter(starts).map(|(path, _)| path).collect());
}

#[test]
fn only_an_approver_names_a_reviewer() {
    let names = |(path, text): &(String, String)| {
        !is_test(path)
            && !NAMES_A_REVIEWER.contains(&path.as_str())
            && product(text).any(|(_, code)| code.contains("Reviewer::new"))
    };
    none(source().into_iter().filter(names).map(|(path, _)| path).collect());
}

#[test]
fn every_file_begins_with_what_it_is_about() {
    let silent = |(_, text): &(String, String)| !text.starts_with("//!");
    none(source().into_iter().filter(silent).map(|(path, _)| path).collect());
}

#[test]
fn every_module_is_declared_by_its_parent() {
    let all = source();
    let mut problems = Vec::new();
    for path in all
        .keys()
        .filter(|path| !["mod.rs", "lib.rs", "main.rs"].iter().any(|name| path.ends_with(name)))
        // The programs below `examples` are Cargo's to find.
        .filter(|path| path.contains("src/"))
    {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let parent =
            if folder == sources_of(path) { format!("{folder}/lib.rs") } else { format!("{folder}/mod.rs") };
        let stem = name.trim_end_matches(".rs");
        if !all.get(&parent).is_some_and(|text| text.contains(&format!("mod {stem};"))) {
            problems.push(format!("{path} is not a module of {parent}"));
        }
    }
    none(problems);
}

#[test]
fn every_fixture_is_used() {
    let tests: String = files("tests", ".rs").into_values().chain(source().into_values()).collect();
    let unused = |path: &String| {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let below = folder.trim_start_matches("tests/");
        // Of a tree that is read as a whole only its top is named.
        let trees = Path::new(below).ancestors().filter(|tree| tree.components().count() >= 3);
        let named = |tree: &Path| tests.contains(tree.to_string_lossy().trim_start_matches("fixtures/"));
        let read = trees.into_iter().any(named);
        !tests.contains(name) && !tests.contains(below) && !read
    };
    let fixtures = root().join("tests/fixtures");
    let names =
        if fixtures.is_dir() { files("tests/fixtures", "").into_keys().collect() } else { Vec::new() };
    none(names.into_iter().filter(unused).collect());
}

#[test]
fn the_architecture_names_every_crate() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let folders = CRATES.iter().map(|(name, _)| *name).chain(MODULES[0].1.iter().map(|(name, _)| *name));
    none(
        folders
            .filter(|name| !name.is_empty() && !text.contains(&format!("{name}/")))
            .map(|name| format!("ARCHITECTURE.md does not speak of {name}/"))
            .collect(),
    );
}

#[test]
fn contributing_says_why_each_dependency_is_there() {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let all = manifest["workspace"]["dependencies"].as_table().unwrap();
    none(
        all.keys()
            .filter(|name| !name.starts_with("ghost-") && !text.contains(&format!("`{name}`")))
            .map(|name| format!("CONTRIBUTING.md does not say why `{name}` is there"))
            .collect(),
    );
}
