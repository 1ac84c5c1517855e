//! Questions behind the answers of cases, put to `ghost ask`: what is useful, and that none begins work.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

/// Of a hundred questions at least so many get the answer that they want.
const MIN_PERCENT: usize = 97;
const MAX_LINES: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    cases: Vec<String>,
    every: Vec<Group>,
}

/// Questions that want the same answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    cases: Option<Vec<String>>,
    has: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
    questions: Vec<String>,
}

/// Runs `ghost` with a data folder and nothing in its environment.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(data: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    command.args(arguments).arg("--data-dir").arg(data).env_clear().stdin(Stdio::null());
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn events(data: &Path, session: &str) -> usize {
    let shown: Value = serde_json::from_str(&ghost(data, &["sessions", "show", session, "--json"])).unwrap();
    shown.pointer("/events").and_then(Value::as_array).map_or(0, Vec::len)
}

#[test]
fn questions_behind_an_answer_are_answered_and_begin_no_work() {
    let fixture: Fixture = toml::from_str(include_str!("../../fixtures/asked.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let mut sessions = BTreeMap::new();
    let named = fixture.every.iter().flat_map(|group| group.cases.iter().flatten());
    for case in fixture.cases.iter().chain(named) {
        if sessions.contains_key(case) {
            continue;
        }
        let out = ghost(data, &["investigate", "--case", case, "--plain", "--json"]);
        let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        let session = first.pointer("/session").and_then(Value::as_str).unwrap().to_owned();
        let length = events(data, &session);
        sessions.insert(case.clone(), (session, length));
    }
    let (mut all, mut wrong) = (0, Vec::new());
    for group in &fixture.every {
        for case in group.cases.as_ref().unwrap_or(&fixture.cases) {
            let (session, _) = sessions.get(case).unwrap();
            for question in &group.questions {
                let out = ghost(data, &["ask", session, question, "--json"]);
                let answer: Value = serde_json::from_str(&out).unwrap();
                let text = answer.pointer("/answer").and_then(Value::as_str).unwrap();
                let is_useful = group.has.iter().all(|part| text.contains(part))
                    && !group.never.iter().any(|part| text.contains(part))
                    && text.lines().count() <= MAX_LINES;
                all += 1;
                if !is_useful {
                    wrong.push(format!("{case}: {question}: {text}"));
                }
            }
        }
    }
    println!("asked: {} of {all} questions get the answer that they want", all - wrong.len());
    assert!(all >= 400, "{all}");
    assert!(
        wrong.len() * 100 <= (100 - MIN_PERCENT) * all,
        "{} of {all}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for (session, length) in sessions.values() {
        assert_eq!(events(data, session), *length, "a question began work");
    }
}
