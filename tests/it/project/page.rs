//! What the first pages promise about themselves.

use std::collections::BTreeSet;

use ghost_tools::config::Config;

use crate::project::none;
use crate::yaml::text;

fn lines(path: &str) -> usize {
    text(path).lines().count()
}

#[test]
fn the_first_sentence_names_azure_and_slack() {
    let readme = text("README.md");
    let first = readme.split("\n\n").nth(1).unwrap().replace('\n', " ");
    let sentence = first.split(". ").next().unwrap();
    assert!(sentence.contains("Azure") && sentence.contains("Slack"), "{sentence}");
}

#[test]
fn the_first_pages_are_short() {
    assert!(lines("README.md") <= 150, "README.md: {} lines", lines("README.md"));
    assert!(lines("ARCHITECTURE.md") <= 250, "ARCHITECTURE.md: {} lines", lines("ARCHITECTURE.md"));
    let architecture = text("ARCHITECTURE.md");
    let glossary = architecture.split("\n## Glossary").nth(1).unwrap();
    assert!(glossary.lines().count() <= 40, "the glossary: {} lines", glossary.lines().count());
}

/// Returns the names that serde knows in a section, from what it says about a name that it does not know.
fn keys(section: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ghost.toml");
    let table = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
    std::fs::write(&path, format!("{table}no_such_key = 1\n")).unwrap();
    let reported = Config::load(&path).unwrap_err().to_string();
    let known = reported.split("expected").nth(1).unwrap_or_else(|| panic!("[{section}]: {reported}"));
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Sections below sections. Those that every file names for itself have a name in capitals on the page.
const INNER: [(&str, &str); 14] = [
    ("approval.change", "approval.change"),
    ("approval.measurement", "approval.measurement"),
    ("approval.outage", "approval.outage"),
    ("azure.actor", "azure.actor"),
    ("azure.reader", "azure.reader"),
    ("bot.freezers", "bot"),
    ("channel.C1", "channel.ID"),
    ("export.github", "export.github"),
    ("export.pagerduty", "export.pagerduty"),
    ("model.anthropic", "model.anthropic"),
    ("model.gemini", "model.gemini"),
    ("model.openai", "model.openai"),
    ("model.prices.x", "model.prices.NAME"),
    ("ssh.bastion", "ssh.bastion"),
];

#[test]
fn every_key_of_the_configuration_has_its_row() {
    let page = text("docs/operations/configuration.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `[")).collect();
    let mut sections: Vec<(String, String)> =
        INNER.iter().map(|(section, row)| ((*section).to_owned(), (*row).to_owned())).collect();
    let top = keys("");
    assert!(top.contains("shell") && top.contains("bot"), "{top:?}");
    sections.extend(
        top.into_iter()
            .filter(|section| !matches!(section.as_str(), "programs" | "channel"))
            .map(|section| (section.clone(), section)),
    );
    let mut missing = Vec::new();
    for (section, row) in sections {
        let reported = |key: &str| {
            let names = |line: &&&str| {
                let (head, rest) = line.split_once(']').unwrap_or((line, ""));
                // One row may be about two sections.
                (head.ends_with(&format!("[{row}")) || rest.contains(&format!("[{row}]")))
                    && rest.contains(&format!("`{key}`"))
            };
            let plain = |line: &&&str| line.contains(&format!("[{row}] {key}`"));
            rows.iter().any(|line| names(&line) || plain(&line))
        };
        let open = keys(&section).into_iter().filter(|key| !reported(key));
        missing.extend(open.map(|key| format!("[{section}] {key}")));
    }
    none(missing);
}
