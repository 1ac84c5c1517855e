//! The command line as a script uses it: exit codes, and what stands on which stream.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs `ghost` with nothing in its environment.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[track_caller]
fn check(arguments: &[&str], code: i32, error: &str) {
    let output = ghost(arguments, "");
    let hint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(code), true), "{hint}");
    assert!(hint.contains(error), "{hint}");
}

#[test]
fn what_only_answers_needs_no_home() {
    let output = ghost(&["shell", "classify", "ip route", "--json"], "");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["verdict"], &answer["argv"]),
        (&Value::from("SAFE"), &serde_json::json!(["ip", "route"]))
    );
}

#[test]
fn what_writes_says_that_it_has_no_place() {
    check(&["shell", "run", "uname", "--reasoning", "r"], 1, "hint: name a folder with --data-dir");
}

#[test]
fn wrong_usage_is_exit_code_2() {
    check(&["shell", "run", "uname"], 2, "--reasoning");
    check(&["shell", "run", "uname", "--reasoning", "r", "--session", "../x"], 2, "an id is 1 to 64");
}

#[test]
fn a_missing_configuration_is_exit_code_1_with_a_hint() {
    check(&["shell", "classify", "ls", "--config", "/nonexistent.toml"], 1, "hint: ");
}

#[test]
fn every_line_is_answered_in_order_even_one_that_is_no_question() {
    let output = ghost(
        &["shell", "classify", "--jsonl"],
        "{\"command\":\"uname\"}\n{broken\n{\"command\":\"reboot\"}",
    );
    let verdicts: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["SAFE", "RISKY", "BLOCKED"]);
}

#[test]
fn a_line_that_is_too_long_is_answered_and_the_next_one_too() {
    let output = ghost(
        &["shell", "classify", "--jsonl"],
        &format!("{}\n{{\"command\":\"uname\"}}\n", "x".repeat(3 << 20)),
    );
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2);
    assert!(answers[0]["reason"].as_str().unwrap().contains("longer than"));
    assert_eq!(answers[1]["verdict"], "SAFE");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn a_question_is_answered_before_the_next_one_is_asked() {
    use std::io::{BufRead as _, BufReader};
    let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["shell", "classify", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut ask, mut answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for verdict in ["SAFE", "SAFE"] {
        ask.write_all(b"{\"command\":\"uname\"}\n").unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["verdict"], verdict);
    }
    drop(ask);
    assert!(child.wait().unwrap().success());
}

#[test]
fn shell_run_exits_with_3_where_nothing_ran_and_with_0_whatever_a_command_did() {
    let data = tempfile::tempdir().unwrap();
    let place = data.path().to_str().unwrap();
    let run = ["shell", "run", "reboot", "--reasoning", "r", "--json", "--data-dir", place];
    let output = ghost(&run, "");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["error"]), (Some(3), &Value::from("blocked")));
    assert_eq!(answer["output_metadata"], serde_json::json!({}));
    let code = |command: &str| {
        let run = ["shell", "run", command, "--reasoning", "r", "--approve", "deny", "--data-dir", place];
        ghost(&run, "").status.code()
    };
    assert_eq!((code("touch /nonexistent/x"), code(" ")), (Some(3), Some(3)));
    // It ran, and failed.
    assert_eq!((code("uname"), code("cat /proc/net/none-such")), (Some(0), Some(0)));
}

#[test]
fn the_approver_is_named_where_a_command_asks_and_nowhere_else() {
    let data = tempfile::tempdir().unwrap();
    let place = data.path().to_str().unwrap();
    let hint = |command: &str, more: &[&str]| {
        let run = ["shell", "run", command, "--reasoning", "r", "--data-dir", place];
        let output = ghost(&[&run, more].concat(), "");
        let hint = String::from_utf8_lossy(&output.stderr).into_owned();
        hint.lines().find(|line| line.starts_with("approval: ")).map(str::to_owned)
    };
    assert!(hint("touch /nonexistent/x", &[]).is_some_and(|hint| hint.contains("nobody is asked")));
    // Nothing but a pipe is there to answer.
    assert!(
        hint("touch /nonexistent/x", &["--approve", "ask"])
            .is_some_and(|hint| hint.contains("standard input"))
    );
    for command in ["uname", "reboot"] {
        assert_eq!(hint(command, &["--approve", "ask"]), None, "{command}");
    }
}
