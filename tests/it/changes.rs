//! `ghost changes` over logs of files: who changed what, and what made an object what it is.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const RULE: &str = "/subscriptions/s/resourceGroups/prod/providers/Microsoft.Network/networkSecurityGroups/app-nsg/securityRules/deny-db";

/// Runs `ghost changes` over a log with nothing in its environment.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn changes(arguments: &[&str], log: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["changes", "--log", "-"])
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments does not wait for its input.
    drop(child.stdin.take().unwrap().write_all(log.as_bytes()));
    child.wait_with_output().unwrap()
}

fn event(id: &str, at: &str, status: &str, caller: &str, operation: &str) -> Value {
    json!({"eventTimestamp": at, "status": {"value": status, "localizedValue": status}, "caller": caller, "resourceId": id,
        "operationName": {"value": "Microsoft.Network/networkSecurityGroups/securityRules/write", "localizedValue": "Create or Update"},
        "subStatus": {"value": "Created"}, "correlationId": operation, "operationId": operation})
}

fn log() -> Value {
    json!([
        event(RULE, "2026-11-24T02:31:12Z", "Succeeded", "ben@contoso.com", "3"),
        event(RULE, "2026-11-24T02:13:05Z", "Succeeded", "deploy-pipeline", "2"),
        event(RULE, "2026-11-24T02:13:00.1234567Z", "Started", "deploy-pipeline", "2"),
        event(RULE, "2026-11-24T01:40:09Z", "Failed", "ana@contoso.com", "1"),
        event(
            &RULE.replace("deny-db", "allow-web"),
            "2026-11-24T02:16:00Z",
            "Succeeded",
            "ana@contoso.com",
            "4"
        ),
    ])
}

const AROUND: [&str; 4] = ["--around", "nsg/app-nsg/deny-db", "--first-failure", "2026-11-24T02:17:00Z"];

#[test]
fn the_change_that_made_an_object_is_named_and_the_others_are_not() {
    let output = changes(&[&AROUND[..], &["--json", "--exit-code"]].concat(), &log().to_string());
    assert_eq!(output.status.code(), Some(3));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let around = &answer["around"];
    assert_eq!(
        (&around["result"], &around["change"]["who"], &around["seconds_before"]),
        (&json!("made_by"), &json!("deploy-pipeline"), &json!(239))
    );
    let rows: Vec<(&str, &Value)> = answer["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["who"].as_str().unwrap(), &row["not_connected"]))
        .collect();
    assert_eq!(
        rows,
        [
            ("ben@contoso.com", &json!("after_failure")),
            ("deploy-pipeline", &Value::Null),
            ("ana@contoso.com", &json!("failed"))
        ]
    );
}

#[test]
fn people_read_the_answer_first() {
    let output = changes(&AROUND, &log().to_string());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("Rule deny-db of app-nsg was created 2026-11-24 02:13:00Z by deploy-pipeline (succeeded), 4 minutes before the first failure.\n"),
        "{text}"
    );
    assert!(text.contains("not connected: it came after the first failure"), "{text}");
}

#[test]
fn changes_are_selected_by_who_and_when() {
    let count = |arguments: &[&str]| {
        let output = changes(&[arguments, &["--json"]].concat(), &log().to_string());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["changes"].as_array().unwrap().len()
    };
    assert_eq!(count(&[]), 4);
    assert_eq!(count(&["--by", "ANA"]), 2);
    assert_eq!(count(&["--since", "2026-11-24T02:00:00Z", "--until", "2026-11-24T02:20:00Z"]), 2);
    assert_eq!(count(&["--around", "web-nsg"]), 0);
}

#[test]
fn a_log_that_is_cut_says_so_and_one_that_is_none_is_an_error() {
    let whole = log().to_string();
    let cut = whole.get(..whole.len() - 40).unwrap();
    let output = changes(&["--around", "nsg/other/rule", "--json", "--exit-code"], cut);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["complete"]), (Some(4), &json!(false)));
    assert_eq!(answer["around"]["why"], json!("cut"));
    for text in ["", "ERROR: (AuthorizationFailed)", "{}"] {
        let output = changes(&[], text);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(output.stdout.is_empty() && error.contains("hint: "), "{error}");
    }
}

#[test]
fn a_hostile_log_steers_no_terminal() {
    let odd = event(RULE, "2026-11-24T02:13:00Z", "Succeeded", "eve\u{1b}[2J\nroot", "1");
    let output = changes(&[], &json!([odd]).to_string());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("eve[2J root") && !text.contains('\u{1b}'), "{text}");
}

/// Investigates the case of a rule that somebody made in the night; returns its line and its report.
fn investigated(more: &[&str]) -> (Value, String) {
    investigated_case("changed-rule", more)
}

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn investigated_case(name: &str, more: &[&str]) -> (Value, String) {
    let home = tempfile::tempdir().unwrap();
    let keep = home.path().join("kept");
    let case = format!("{}/tests/it/estates/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["lab", "eval", &case, "--json", "--keep", keep.to_str().unwrap()])
        .args(more)
        .env_clear()
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = std::fs::read_to_string(row.get("report").and_then(Value::as_str).unwrap()).unwrap();
    (row, report)
}

#[test]
fn an_investigation_says_who_made_the_rule_that_stops_the_flow_and_when() {
    let (row, report) = investigated(&[]);
    let changes = &row["changes"];
    assert_eq!(
        (&changes["expected"], &changes["attributed"], &changes["wrong"], &changes["decoys_blamed"]),
        (&json!(1), &json!(1), &json!(0), &json!(0)),
        "{row}"
    );
    assert_eq!(row["outcome"], json!("CONFIRMED"));
    let first =
        report.lines().find(|line| line.starts_with("- Since when: ")).unwrap_or_else(|| panic!("{report}"));
    assert!(first.contains("rule deny-8080 of tf-dest-vm-nsg was created 2025-06-02 02:"), "{first}");
    assert!(first.contains("(succeeded)") && first.ends_with(" before the first failure"), "{first}");
    // The proof names the observation that holds the log.
    let proof =
        report.lines().find(|line| line.trim_start().starts_with("- Since when: ") && line.contains("(o"));
    assert!(proof.is_some(), "{report}");
}

#[test]
fn a_change_of_another_subscription_is_read_there() {
    let (row, report) = investigated_case("sub-nsg", &[]);
    let changes = &row["changes"];
    assert_eq!(
        (&changes["attributed"], &changes["missed"], &changes["wrong"], &changes["decoys_blamed"]),
        (&json!(1), &json!(0), &json!(0), &json!(0)),
        "{row}"
    );
    assert!(report.contains("rule harden-data of hub-nsg was created 2025-06-0"), "{report}");
}

#[test]
fn who_changed_something_is_asked_and_answered() {
    for question in
        ["who changed the NSG of tf-dest-vm last night?", "what changed in nw-forensics-rg between 1 and 3?"]
    {
        let (row, report) = investigated(&["--prompt", question]);
        let title = report.lines().next().unwrap();
        assert!(title.starts_with("# Changes: "), "{question}: {title}");
        assert!(
            report.contains("ule deny-8080 of tf-dest-vm-nsg was created 2025-06-02 02:"),
            "{question}: {report}"
        );
        assert_eq!((&row["approvals"], &row["unsafe"]), (&json!(0), &json!(0)));
    }
}
