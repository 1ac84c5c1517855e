//! The pages about operations, against everything that they speak of.

use std::collections::BTreeSet;

use ghost_agent::http::TABLE;

use crate::deploy::{files, none, rows, tokens};
use crate::yaml::text;

/// Beginnings of variables that this program reads.
const READS: [&str; 5] = ["ANTHROPIC_", "GEMINI_", "GHOST_", "OPENAI_", "SLACK_"];

/// What a person reads who installs it and keeps it running.
fn page() -> String {
    ["install", "monitoring", "maintenance"].map(|page| text(&format!("docs/operations/{page}.md"))).concat()
}

fn variables(text: &str) -> BTreeSet<String> {
    let named = |word: &&str| {
        READS.iter().any(|start| word.starts_with(start))
            && word.chars().all(|char| char.is_ascii_uppercase() || char == '_')
    };
    tokens(text).filter(named).map(str::to_owned).collect()
}

#[test]
fn the_page_lists_the_metrics_that_are_served() {
    let page = page();
    let reported: Vec<_> = rows(&page).into_iter().filter(|row| row[0].starts_with("`ghost_")).collect();
    let labels = |row: &ghost_agent::http::Described| {
        row.labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ")
    };
    let served: Vec<_> = TABLE
        .iter()
        .map(|row| [format!("`{}`", row.name), row.kind.word().to_owned(), labels(row), row.help.to_owned()])
        .collect();
    assert_eq!(reported, served);
}

#[test]
fn an_alert_that_the_page_proposes_is_about_a_metric_that_exists() {
    let page = page();
    let unknown = |word: &&str| {
        word.starts_with("ghost_") && *word != "ghost_" && !TABLE.iter().any(|row| row.name == *word)
    };
    none(tokens(&page).filter(unknown).map(str::to_owned).collect());
}

#[test]
fn every_variable_is_on_the_page_and_in_the_example() {
    let example = variables(&text("deploy/example.env"));
    let page = variables(&page());
    let mut named: BTreeSet<String> = files()
        .iter()
        // What a release is made with is no variable of the program.
        .filter(|(path, _)| !path.ends_with(".md") && !path.starts_with("deploy/release/"))
        .flat_map(|(_, text)| variables(text))
        .collect();
    assert_eq!(named, example, "named below deploy/, but not in example.env");
    named.remove("GHOST_CONFIG");
    assert_eq!(named.difference(&page).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(page.difference(&example).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn no_value_stands_in_the_example() {
    for line in
        text("deploy/example.env").lines().filter(|line| line.contains("_TOKEN") || line.contains("KEY"))
    {
        assert!(line.starts_with('#') && line.ends_with('='), "{line}");
    }
}

#[test]
fn every_path_that_a_file_names_is_on_the_page() {
    let page = page();
    let reported: BTreeSet<_> = tokens(&page).collect();
    let ours = |word: &str| {
        ["/etc/ghost", "/var/lib/ghost", "/usr/local/bin/ghost", "/etc/systemd/system/ghost"]
            .iter()
            .any(|start| word.starts_with(start))
    };
    let mut missing = Vec::new();
    for (path, text) in files() {
        let words = tokens(&text).filter(|word| ours(word) && !reported.contains(word.trim_end_matches('/')));
        missing.extend(words.map(|word| format!("{path}: {word}")));
    }
    none(missing);
}

#[test]
fn every_key_of_the_configuration_is_explained() {
    let reported = text("docs/operations/configuration.md");
    for path in ["deploy/ghost.toml", "deploy/kubernetes/ghost.toml"] {
        let table: toml::Table = text(path).parse().unwrap();
        let mut open: Vec<(String, toml::Table)> = vec![(String::new(), table)];
        while let Some((above, table)) = open.pop() {
            for (key, value) in table {
                let whole = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
                if let (toml::Value::Table(below), false) = (&value, key == "freezers") {
                    open.push((whole, below.clone()));
                    continue;
                }
                let line = |line: &str| line.contains(&format!("[{above}]")) && line.contains(key.as_str());
                // The providers' keys stand in one row for all of them.
                let shared = above == "model.anthropic" && reported.contains(&key);
                assert!(shared || reported.lines().any(line), "{path}: [{above}] {key}");
            }
        }
    }
}

#[test]
fn both_beginnings_differ_only_in_what_surrounds_them() {
    let read = |path: &str| text(path).parse::<toml::Table>().unwrap();
    let mut pod = read("deploy/kubernetes/ghost.toml");
    pod["store"].as_table_mut().unwrap().remove("password_file").unwrap();
    assert_eq!(pod, read("deploy/ghost.toml"));
}

#[test]
fn nobody_may_approve_or_freeze_until_somebody_is_listed() {
    let config: toml::Table = text("deploy/ghost.toml").parse().unwrap();
    for list in [
        &config["approval"]["change"]["users"],
        &config["approval"]["change"]["groups"],
        &config["approval"]["measurement"]["users"],
        &config["approval"]["measurement"]["groups"],
        &config["bot"]["freezers"]["users"],
        &config["bot"]["freezers"]["groups"],
    ] {
        assert_eq!(list.as_array().unwrap().len(), 0);
    }
}

#[test]
fn the_page_says_what_was_never_tried() {
    assert!(page().contains("**Never run so far**"));
}
