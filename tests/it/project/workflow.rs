//! The workflows call what a person calls, and hold no steps of their own.
#![expect(clippy::indexing_slicing, reason = "a workflow without the field stops the test")]

use serde_json::Value;

use crate::yaml::{document, text};

/// Returns all commands of a workflow, and all actions of others that it uses.
fn steps(path: &str) -> (Vec<String>, Vec<String>) {
    let workflow = document(path);
    let of = |key: &str| -> Vec<String> {
        let jobs = workflow["jobs"].as_object().unwrap().values();
        // A job that calls another workflow has no steps.
        let steps = jobs.filter_map(|job| job["steps"].as_array()).flatten();
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

const RELEASE: &str = ".github/workflows/release.yaml";

#[test]
fn a_release_begins_with_a_tag_that_agrees_and_with_all_tests() {
    let workflow = document(RELEASE);
    assert_eq!(workflow["on"], serde_json::json!({"push": {"tags": ["v*"]}}));
    let jobs = workflow["jobs"].as_object().unwrap();
    assert_eq!(jobs["version"]["steps"][1]["run"], "deploy/release/version --tag \"$GITHUB_REF_NAME\"");
    assert_eq!(jobs["test"]["uses"], "./.github/workflows/test.yaml");
    assert!(document(".github/workflows/test.yaml")["on"].as_object().unwrap().contains_key("workflow_call"));
    assert_eq!(jobs["release"]["needs"], serde_json::json!(["test", "program", "image"]));
    assert_eq!(jobs["crates"]["needs"], "release");
    assert_eq!(jobs["crates"]["environment"], "crates");
}

#[test]
fn a_release_may_write_only_where_a_job_says_so_and_uses_actions_of_the_host_alone() {
    let workflow = document(RELEASE);
    assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}));
    let writers: Vec<&str> = workflow["jobs"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, job)| job["permissions"]["contents"] == "write")
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(writers, ["release"]);
    let (_, uses) = steps(RELEASE);
    assert!(uses.iter().all(|action| action.starts_with("actions/")), "{uses:?}");
    assert!(uses.iter().filter(|action| action.starts_with("actions/attest-build-provenance@")).count() >= 3);
}

#[test]
fn a_release_has_four_targets_and_calls_scripts_that_are_there() {
    let workflow = document(RELEASE);
    let targets: Vec<&str> = workflow["jobs"]["program"]["strategy"]["matrix"]["include"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["target"].as_str().unwrap())
        .collect();
    let cpus = ["x86_64", "aarch64"];
    let expected: Vec<String> = cpus
        .iter()
        .flat_map(|cpu| ["gnu", "musl"].map(|libc| format!("{cpu}-unknown-linux-{libc}")))
        .collect();
    assert_eq!(targets, expected);
    // What the install script knows.
    let script = text("deploy/install.sh");
    assert!(cpus.iter().all(|cpu| script.contains(&format!("cpu={cpu} ;;"))));
    let (runs, _) = steps(RELEASE);
    let mut called = 0;
    for word in
        runs.iter().flat_map(|run| run.split(|char: char| char.is_whitespace() || "()\"$".contains(char)))
    {
        if word.starts_with("deploy/") {
            assert!(crate::project::root().join(word).exists(), "{word}");
            called += 1;
        }
    }
    assert!(called > 12, "{called}");
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
