//! The workflows call what a person calls, and hold no steps of their own.
#![expect(clippy::indexing_slicing, reason = "a workflow without the field stops the test")]

use serde_json::Value;

use crate::yaml::{document, text};

/// Returns all commands of a workflow, and all actions of others that it uses.
fn steps(path: &str) -> (Vec<String>, Vec<String>) {
    let workflow = document(path);
    let of = |key: &str| -> Vec<String> {
        let jobs = workflow["jobs"].as_object().unwrap().values();
        let steps = jobs.flat_map(|job| job["steps"].as_array().unwrap());
        steps.filter_map(|step| step[key].as_str()).map(str::to_owned).collect()
    };
    (of("run"), of("uses"))
}

#[test]
fn a_change_runs_everything_that_a_person_runs() {
    let (runs, _) = steps(".github/workflows/test.yaml");
    assert!(runs.iter().any(|run| run.trim() == "tests/run"), "{runs:?}");
}

#[test]
fn the_oldest_rust_is_read_from_the_manifest() {
    let (runs, _) = steps(".github/workflows/test.yaml");
    let oldest = runs.iter().find(|run| run.contains("rust-version")).unwrap();
    assert!(oldest.contains("Cargo.toml") && oldest.contains("cargo \"+$oldest\" check"), "{oldest}");
}

#[test]
fn advisories_are_looked_up_on_a_schedule() {
    let path = ".github/workflows/advisories.yaml";
    assert!(document(path)["on"]["schedule"][0]["cron"].is_string());
    let (runs, _) = steps(path);
    assert!(runs.iter().any(|run| run.trim() == "tests/deny --advisories"), "{runs:?}");
}

#[test]
fn a_workflow_may_only_read_and_uses_actions_of_the_host_alone() {
    for path in [".github/workflows/test.yaml", ".github/workflows/advisories.yaml"] {
        assert_eq!(document(path)["permissions"], serde_json::json!({"contents": "read"}), "{path}");
        let (_, uses) = steps(path);
        assert!(uses.iter().all(|action| action.starts_with("actions/")), "{path}: {uses:?}");
    }
}

#[test]
fn a_form_asks_for_the_version_and_the_report() {
    let form = document(".github/ISSUE_TEMPLATE/wrong-answer.yaml");
    let ids: Vec<&str> =
        form["body"].as_array().unwrap().iter().filter_map(|part| part["id"].as_str()).collect();
    assert!(ids.contains(&"version") && ids.contains(&"report"), "{ids:?}");
    assert_eq!(document(".github/ISSUE_TEMPLATE/config.yml")["blank_issues_enabled"], Value::from(true));
    assert!(text(".github/pull_request_template.md").contains("tests/run"));
}
