//! `ghost flows` over blobs of flow logs.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// 2026-11-24T02:00:00Z, in milliseconds.
const HOUR: u64 = 1_795_485_600_000;

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn flows(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ghost"))
        .arg("flows")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap()
}

fn tuple(after: u64, port: u16, state: &str, counts: &str) -> String {
    format!("{},10.1.2.10,10.1.3.10,40000,{port},6,I,{state},NX,{counts}", HOUR + after)
}

fn blob() -> Value {
    let group = |rule: &str, lines: &[String]| json!({"rule": rule, "flowTuples": lines});
    let groups = json!([
        group("deny-db", &[tuple(60_000, 5432, "D", "0,0,0,0"), tuple(120_000, 5432, "D", "0,0,0,0")]),
        group("allow-web", &[tuple(1_000, 443, "B", "0,0,0,0"), tuple(9_000, 443, "E", "9,900,0,0")]),
    ]);
    json!({"records": [{"time": "t", "flowLogVersion": 4, "macAddress": "000D3A010203",
        "flowRecords": {"flows": [{"aclID": "a", "flowGroups": groups}]}}]})
}

#[test]
fn a_denied_flow_names_its_rule_and_a_missing_one_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("PT1H.json"), blob().to_string()).unwrap();
    let ask = |to: &str, more: &[&str]| {
        let first = ["PT1H.json", "--from", "10.1.2.10", "--to", to, "--exit-code"];
        flows(folder.path(), &[&first, more].concat())
    };
    let said = ask("10.1.3.10:5432", &[]);
    let text = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.status.code(), Some(3), "{text}");
    assert!(
        text.contains("denied by deny-db, 2 times, from 2026-11-24 02:01:00Z to 2026-11-24 02:02:00Z"),
        "{text}"
    );

    let said = ask("10.1.3.10:443", &["--json"]);
    let found: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((said.status.code(), &found["seen"][0]["packets_back"]), (Some(0), &json!(0)));
    assert_eq!(found["seen"][0]["mac"], json!("00-0D-3A-01-02-03"));

    for (to, more) in [("10.1.3.10:80", &[][..]), ("10.1.3.10:5432", &["--since", "2026-11-24T03:00:00Z"])] {
        let said = ask(to, more);
        let text = String::from_utf8(said.stdout).unwrap();
        assert_eq!(said.status.code(), Some(4), "{text}");
        assert!(text.contains("shows nothing of it") && !text.contains("denied"), "{text}");
    }
}

#[test]
fn a_blob_that_is_still_written_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let text = blob().to_string();
    let whole = text.trim_end_matches("]}").to_owned();
    std::fs::write(folder.path().join("cut.json"), format!("{whole},{}", &whole[12..60])).unwrap();
    let said = flows(folder.path(), &["cut.json", "--denied", "--json", "--exit-code"]);
    let found: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(said.status.code(), Some(3), "{found:#}");
    assert_eq!((&found["seen"][0]["denied"], &found["unread"]["records"]), (&json!(2), &json!(1)));

    std::fs::write(folder.path().join("odd.json"), [0xff, 0xfe, b'{', 0]).unwrap();
    let said = flows(folder.path(), &["odd.json", "--exit-code"]);
    assert_eq!(said.status.code(), Some(4));
    assert_eq!(flows(folder.path(), &["missing.json"]).status.code().map(|code| code > 0), Some(true));
}
