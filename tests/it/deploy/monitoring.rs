//! The dashboard and the alert rules speak of metrics that the program has, with the labels that it gives them.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use std::collections::BTreeSet;

use ghost_agent::http::{Described, Kind, TABLE};
use serde_json::Value;

use crate::deploy::none;
use crate::yaml::{document, text};

/// Labels that Prometheus adds, and the bound of a bucket.
const ADDED: [&str; 3] = ["instance", "job", "le"];

fn dashboard() -> Value {
    serde_json::from_str(&text("deploy/monitoring/grafana.json")).unwrap()
}

/// Returns every query of the dashboard and of the rules, with where it stands.
fn queries() -> Vec<(String, String)> {
    let board = dashboard();
    let panels = board["panels"].as_array().unwrap();
    let shown = panels.iter().flat_map(|panel| {
        let title = panel["title"].as_str().unwrap();
        let targets = panel["targets"].as_array().unwrap();
        targets.iter().map(move |target| (title.to_owned(), target["expr"].as_str().unwrap().to_owned()))
    });
    let rules = document("deploy/monitoring/rules.yaml");
    let rules = rules["groups"][0]["rules"].as_array().unwrap().clone();
    let watched = rules
        .iter()
        .map(|rule| (rule["alert"].as_str().unwrap().to_owned(), rule["expr"].as_str().unwrap().to_owned()));
    shown.chain(watched).collect()
}

fn names(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    words.filter(|word| word.starts_with("ghost_"))
}

/// Returns the metric of a name in a query, and whether it is used as what it is.
fn described(name: &str) -> Option<&'static Described> {
    let whole = TABLE.iter().find(|row| row.name == name && row.kind != Kind::Histogram);
    whole.or_else(|| {
        let of = ["_bucket", "_sum", "_count"].iter().find_map(|ending| name.strip_suffix(ending))?;
        TABLE.iter().find(|row| row.name == of && row.kind == Kind::Histogram)
    })
}

/// Returns the labels of a query: those of its selectors and those of its groups.
fn labels(query: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in query.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
        found.extend(
            part.split(',').filter_map(|one| one.split(['=', '!']).next()).map(|name| name.trim().to_owned()),
        );
    }
    for part in query.split("by (").skip(1).filter_map(|rest| rest.split(')').next()) {
        found.extend(part.split(',').map(|name| name.trim().to_owned()));
    }
    found
}

#[test]
fn a_query_is_about_a_metric_and_a_label_that_there_is() {
    let mut problems = Vec::new();
    for (place, query) in queries() {
        let mut known: BTreeSet<&str> = BTreeSet::from(ADDED);
        for name in names(&query) {
            match described(name) {
                Some(row) => known.extend(row.labels),
                None => problems.push(format!("{place}: there is no {name}")),
            }
            let counts = name.ends_with("_total") || name.ends_with("_bucket");
            let rated =
                query.contains(&format!("rate({name}")) || query.contains(&format!("increase({name}"));
            problems.extend((counts != rated).then(|| format!("{place}: {name} is taken as what it is not")));
        }
        let unknown = labels(&query).into_iter().filter(|label| !known.contains(label.as_str()));
        problems.extend(unknown.map(|label| format!("{place}: no metric there has the label {label}")));
        problems.extend(names(&query).next().is_none().then(|| format!("{place}: {query}")));
        let balanced = |open: char, close: char| query.matches(open).count() == query.matches(close).count();
        problems.extend((!balanced('(', ')') || !balanced('{', '}')).then(|| format!("{place}: {query}")));
    }
    none(problems);
}

#[test]
fn the_dashboard_shows_every_metric() {
    let queries = queries();
    let used: BTreeSet<&str> = queries
        .iter()
        .flat_map(|(_, query)| names(query))
        .filter_map(described)
        .map(|row| row.name)
        .collect();
    none(TABLE.iter().filter(|row| !used.contains(row.name)).map(|row| row.name.to_owned()).collect());
}

#[test]
fn values_of_labels_are_words_that_the_program_writes() {
    let words = text("src/http/measure/word.rs");
    let mut problems = Vec::new();
    for (place, query) in queries() {
        for part in query.split('"').skip(1).step_by(2).filter(|part| !part.starts_with('$')) {
            let missing = part.split('|').filter(|word| !words.contains(&format!("= \"{word}\"")));
            problems.extend(missing.map(|word| format!("{place}: nothing is called {word}")));
        }
    }
    none(problems);
}

#[test]
fn panels_neither_overlap_nor_repeat_and_alerts_say_what_they_mean() {
    let board = dashboard();
    let panels = board["panels"].as_array().unwrap();
    let mut cells = BTreeSet::new();
    for panel in panels {
        let at = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24, "{}", panel["title"]);
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(cells.insert((x, y)), "{} overlaps", panel["title"]);
            }
        }
        assert!(!panel["description"].as_str().unwrap().is_empty());
    }
    let titles: BTreeSet<&str> = panels.iter().map(|panel| panel["title"].as_str().unwrap()).collect();
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!((titles.len(), ids.len()), (panels.len(), panels.len()));
    let rules = document("deploy/monitoring/rules.yaml");
    for rule in rules["groups"][0]["rules"].as_array().unwrap() {
        let severity = rule["labels"]["severity"].as_str().unwrap();
        assert!(["critical", "warning"].contains(&severity), "{rule}");
        for name in ["summary", "description"] {
            assert!(!rule["annotations"][name].as_str().unwrap().is_empty(), "{rule}");
        }
    }
}
