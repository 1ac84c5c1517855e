//! Checks `[meter]`, as far as possible without measuring.

use std::path::Path;

use super::finding::{Finding, State};
use ghost_tools::config::Meter;

const WHAT: &str = "meter";

/// Says what is wrong with it, all of it; where nothing is, what is measured. `None` where it says nothing.
pub(super) fn check(meter: &Meter) -> Vec<Finding> {
    if *meter == Meter::default() {
        return Vec::new();
    }
    let mut wrong: Vec<Finding> = Vec::new();
    let mut word = |name: &str, value: Option<&String>, known: [&str; 3]| {
        if let Some(value) = value.filter(|value| !known.contains(&value.as_str())) {
            let known: Vec<&str> = known.into_iter().filter(|word| !word.is_empty()).collect();
            let text = format!("{name} = {value:?} is none of {}", known.join(", "));
            wrong.push(Finding::new(State::Problem, WHAT, text));
        }
    };
    word("provider", meter.provider.as_ref(), ["azure", "ssh", ""]);
    word("test_type", meter.test_type.as_ref(), ["latency", "throughput", "both"]);
    if meter.iterations == Some(0) {
        wrong.push(Finding::new(State::Problem, WHAT, "iterations = 0 measures nothing"));
    }
    let files = [
        ("source_key", &meter.source_key),
        ("destination_key", &meter.destination_key),
        ("known_hosts", &meter.known_hosts),
    ];
    for (name, path) in files {
        if let Some(path) = path.as_ref().filter(|path| !Path::new(path).is_file()) {
            wrong.push(Finding::new(State::Problem, WHAT, format!("{name} = {path:?} is no file")));
        }
    }
    match (&meter.source, &meter.destination) {
        (Some(source), Some(destination)) if source == destination => {
            let text = format!("source and destination are both {source}");
            wrong.push(Finding::new(State::Problem, WHAT, text).hint("a path has two ends"));
        }
        (Some(_), None) | (None, Some(_)) => {
            let text = "one end of the path is named, the other is not";
            wrong.push(Finding::new(State::Warning, WHAT, text).hint("--source and --dest name it"));
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    if meter.storage_account.is_some() != meter.storage_container.is_some() {
        let text = "storage_account and storage_container go together";
        wrong.push(Finding::new(State::Problem, WHAT, text).hint("name both, or nothing is uploaded"));
    }
    if wrong.is_empty() {
        let from = meter.source.as_deref().unwrap_or("SOURCE");
        let to = meter.destination.as_deref().unwrap_or("DEST");
        let text = format!("{from} to {to}, by {}", meter.provider.as_deref().unwrap_or("azure"));
        wrong.push(Finding::new(State::Ok, WHAT, text));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let meter = Meter {
            source: named("web-1"),
            destination: named("web-1"),
            provider: named("telnet"),
            iterations: Some(0),
            known_hosts: named("/nowhere/known_hosts"),
            storage_account: named("results"),
            ..Meter::default()
        };
        let text: Vec<String> = check(&meter).into_iter().map(|finding| finding.detail).collect();
        assert_eq!(text.len(), 5, "{text:#?}");
        assert!(text[0].contains("telnet") && text[2].contains("/nowhere/known_hosts"), "{text:#?}");
    }

    #[test]
    fn an_empty_section_has_no_finding_and_a_valid_one_is_ok() {
        assert!(check(&Meter::default()).is_empty());
        let meter = Meter { source: named("web-1"), destination: named("db-1"), ..Meter::default() };
        let all = check(&meter);
        assert_eq!(all[0], Finding::new(State::Ok, "meter", "web-1 to db-1, by azure"));
    }
}
