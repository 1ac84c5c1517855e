//! The demo's cases: from their prompts to their findings, and nothing else.

use std::path::Path;
use std::sync::LazyLock;

use super::world::{Run, World};

/// A prompt and what has to be found.
type Case = (String, String, Vec<(String, String)>);

/// Reads the cases that the demo shows.
fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/cases");
    let mut cases = Vec::new();
    for letter in 'a'..='w' {
        let text = std::fs::read_to_string(folder.join(format!("{letter}.toml"))).unwrap();
        let case: toml::Value = toml::from_str(&text).unwrap();
        let pairs = |value: &toml::Value| -> Vec<(String, String)> {
            let list = value.get("expected").and_then(toml::Value::as_array).cloned().unwrap_or_default();
            let text = |item: &toml::Value, key: &str| item.get(key).unwrap().as_str().unwrap().to_owned();
            let mut pairs: Vec<_> =
                list.iter().map(|item| (text(item, "fault"), text(item, "object"))).collect();
            pairs.sort();
            pairs
        };
        let prompt = |value: &toml::Value| value.get("prompt").unwrap().as_str().unwrap().to_owned();
        cases.push((letter.to_string(), prompt(&case), pairs(&case)));
        if let Some(second) = case.get("phase").and_then(|phase| phase.get("2")) {
            cases.push((format!("{letter}/2"), prompt(second), pairs(second)));
        }
    }
    cases
}

fn world(expected: &[(String, String)]) -> World {
    World { faults: expected.to_vec(), ..World::default() }
}

/// Each case with what was done about it: most facts below are about the same conversations.
static RUNS: LazyLock<Vec<(Case, Run)>> =
    LazyLock::new(|| cases().into_iter().map(|case| (case.clone(), world(&case.2).run(&case.1))).collect());

#[test]
fn each_case_comes_to_its_findings_and_to_nothing_else() {
    for ((id, _, expected), run) in &*RUNS {
        assert_eq!(run.found(), *expected, "{id}: {:#?}", run.texts);
        let open = run.end["unverifiable_hypotheses"].as_array().unwrap();
        assert!(open.is_empty(), "{id}: {open:?} {:#}", run.end);
        if expected.is_empty() {
            assert_eq!(run.end["confidence"], "high", "{id}");
        } else {
            assert!(!run.end["confirmed_hypotheses"].as_array().unwrap().is_empty(), "{id}: {:#}", run.end);
        }
        assert!(run.texts.len() <= 14, "{id} takes {} turns", run.texts.len());
    }
}

#[test]
fn a_case_without_its_faults_is_healthy() {
    for (id, prompt, _) in cases() {
        let run = World::default().run(&prompt);
        assert!(run.found().is_empty(), "{id}");
        assert_eq!(run.end["confidence"], "high", "{id}: {:#}", run.end);
        let summary = run.text_of("root_cause_summary");
        assert!(!summary.contains("packets are lost") && !summary.contains("No fault"), "{summary}");
    }
}

#[test]
fn one_conversation_has_one_answer() {
    for ((_, prompt, expected), run) in &*RUNS {
        assert_eq!(world(expected).run(prompt), *run);
    }
}

#[test]
fn only_what_needs_it_asks_humans() {
    for ((id, _, _), run) in &*RUNS {
        let asks = run.of("capture_traffic").len() + run.of("run_pipe_meter").len();
        let wire = ["b", "c", "w"].contains(&id.as_str());
        assert!(if wire { asks >= 1 } else { asks == 0 }, "{id}: {asks} {:#?}", run.texts);
    }
}

#[test]
fn every_fault_has_a_remedy_and_its_verification() {
    for ((id, _, expected), run) in &*RUNS {
        for action in run.end["recommended_actions"].as_array().unwrap() {
            let action = action.as_str().unwrap();
            assert!(action.contains("Verify") && action.contains("Risk: "), "{id}: {action}");
            assert!(!action.contains("iptables -D f2b") && !action.contains("default-action"), "{action}");
        }
        let none = expected.iter().all(|(code, _)| code == "no_drift");
        assert_eq!(run.end["recommended_actions"].as_array().unwrap().is_empty(), none, "{id}");
    }
}

#[test]
fn what_a_case_forbids_to_say_is_not_said() {
    for (id, prompt, expected) in cases() {
        let text = std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../demo/cases/{}.toml", &id[..1])),
        )
        .unwrap();
        let case: toml::Value = toml::from_str(&text).unwrap();
        let run = world(&expected).run(&prompt);
        let summary = format!(
            "{}\n{}\n{}",
            run.end["root_cause_summary"].as_str().unwrap(),
            run.text_of("recommended_actions"),
            run.texts.join("\n")
        );
        for item in case.get("forbidden").and_then(toml::Value::as_array).into_iter().flatten() {
            for says in item.get("says").and_then(toml::Value::as_array).into_iter().flatten() {
                let says = regex::Regex::new(says.as_str().unwrap()).unwrap();
                assert!(!says.is_match(&summary), "{id} says {says}: {summary}");
            }
        }
    }
}
