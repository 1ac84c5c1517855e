//! `ghost sessions` and `ghost replay`, as a script uses them.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::world::{conclude, run, suppose};

/// Runs `ghost` with a data folder and nothing in its environment.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    command.args(arguments).arg("--data-dir").arg(data).env_clear().stdin(Stdio::null());
    command.output().unwrap()
}

#[track_caller]
fn check(data: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let output = ghost(data, arguments);
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}{error}");
    // With exit code 1 or 2 nothing stands on standard output.
    assert!(code == 0 || code == 3 || out.is_empty(), "{out}");
    (out, error)
}

#[track_caller]
fn json(data: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&check(data, arguments, 0).0).unwrap()
}

/// Investigates; returns the folder and the session.
fn investigated() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.jsonl");
    std::fs::write(&script, [suppose(), run("uname -s"), conclude("REFUTED")].join("\n")).unwrap();
    let script = script.to_str().unwrap();
    let arguments =
        ["investigate", "5001 \u{1b}[31mhangs", "--brain", "scripted", "--script", script, "--json"];
    let (out, _) = check(&folder.path().join("data"), &arguments, 0);
    let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    (folder, first.pointer("/session").unwrap().as_str().unwrap().to_owned())
}

#[test]
fn a_session_is_listed_shown_exported_replayed_imported_and_deleted() {
    let (folder, id) = investigated();
    let (data, other) = (folder.path().join("data"), folder.path().join("other"));
    let listed = json(&data, &["sessions", "list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let wanted = serde_json::json!([id, "concluded", "5001 \u{1b}[31mhangs", "INCONCLUSIVE"]);
    let keys = ["id", "state", "symptom", "outcome"];
    assert_eq!(keys.iter().map(|key| listed[0][key].clone()).collect::<Value>(), wanted);
    // On a terminal nothing of the symptom has an effect.
    for arguments in
        [&["sessions", "list"][..], &["sessions", "show", &id], &["sessions", "show", &id, "--report"]]
    {
        let (out, _) = check(&data, arguments, 0);
        assert!(out.contains("hangs") && !out.contains('\u{1b}'), "{out}");
    }
    assert!(check(&data, &["sessions", "show", &id, "--audit"], 0).0.contains("# Audit"));
    let shown = json(&data, &["sessions", "show", &id, "--json"]);
    let events = shown["events"].as_array().unwrap();
    assert_eq!(
        (&events[0]["kind"], &shown["head"]),
        (&Value::from("opened"), &events.last().unwrap()["hash"])
    );
    // The report that is shown is the one that was delivered.
    let report = check(&data, &["sessions", "show", &id, "--report"], 0).0;
    let digest = ghost_base::Digest::of(&report).to_string();
    assert_eq!(events.last().unwrap()["body"]["digest"], digest);

    let usage = json(&data, &["sessions", "usage", "--json"]);
    assert_eq!(
        (&usage["total"]["sessions"], &usage["total"]["commands"]),
        (&Value::from(1), &Value::from(1))
    );
    assert_eq!((&usage["groups"][0]["name"], &usage["unread"]), (&Value::from("terminal"), &Value::from(0)));
    let rows = check(&data, &["sessions", "usage", "--by", "session"], 0).0;
    assert!(rows.contains(&id) && rows.lines().last().unwrap().starts_with("all"), "{rows}");
    assert_eq!(
        json(&data, &["sessions", "usage", "--since", "0s", "--json"])["groups"],
        serde_json::json!([])
    );

    let file = folder.path().join("export.jsonl");
    let file = file.to_str().unwrap();
    check(&data, &["sessions", "export", &id, "--out", file], 0);
    assert_eq!(check(&data, &["sessions", "export", &id], 0).0, std::fs::read_to_string(file).unwrap());
    assert_eq!(json(&other, &["replay", file, "--json"])["same"], true);
    assert!(!other.exists());
    let imported = json(&other, &["sessions", "import", file, "--json"]);
    assert_eq!((&imported["id"], &imported["audit"]), (&Value::from(id.clone()), &Value::from("written")));
    assert!(check(&other, &["sessions", "import", file], 1).1.contains("is there already"));
    assert_eq!(json(&other, &["sessions", "show", &id, "--json"]), shown);
    assert!(other.join(format!("audit/{id}.jsonl")).exists());

    check(&data, &["sessions", "delete", &id], 0);
    let listed = json(&data, &["sessions", "list", "--json"]);
    assert_eq!((&listed[0]["state"], &listed[0]["symptom"]), (&Value::from("erased"), &Value::Null));
    assert_eq!(json(&data, &["sessions", "show", &id, "--json"])["head"], shown["head"]);
    assert!(check(&data, &["sessions", "show", &id, "--report"], 1).1.contains("erased"));
    check(&data, &["sessions", "export", &id, "--out", file], 0);
    assert!(check(&data, &["replay", file], 1).1.contains("erased"));
    let third = folder.path().join("third");
    check(&third, &["sessions", "import", file], 0);
    assert_eq!(json(&third, &["sessions", "list", "--json"]), listed);
}

#[test]
fn a_change_of_any_event_is_exit_code_3_and_what_cannot_be_read_is_1() {
    let (folder, id) = investigated();
    let data = folder.path().join("data");
    let text = check(&data, &["sessions", "export", &id], 0).0;
    let file = folder.path().join("changed.jsonl");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let events = lines.iter().filter(|line| line.contains("\"kind\":")).count();
    for at in 1..=events {
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut line: Value = serde_json::from_str(lines[at]).unwrap();
        line["body"]["extra"] = Value::from(1);
        changed[at] = line.to_string();
        write(&(changed.join("\n") + "\n"));
        let found: Value = serde_json::from_str(&check(&data, &["replay", path, "--json"], 3).0).unwrap();
        assert_eq!((&found["same"], &found["seq"]), (&Value::from(false), &Value::from(at)));
        check(&data.join("none"), &["sessions", "import", path], 1);
    }
    assert!(!data.join("none").exists());
    for (text, why) in [("", "empty"), (text.get(..text.len() / 2).unwrap(), "line"), ("{}", "no header")] {
        write(text);
        for arguments in [&["replay", path][..], &["sessions", "import", path]] {
            assert!(check(&data, arguments, 1).1.contains(why), "{why}");
        }
    }
    std::fs::write(&file, b"\xff\xfe").unwrap();
    assert!(check(&data, &["replay", path], 1).1.contains("UTF-8"));
    check(&data, &["replay", "/nonexistent"], 1);
    check(&data, &["replay", folder.path().to_str().unwrap()], 1);
    check(&data, &["replay"], 2);
}

#[test]
fn without_a_store_there_is_nothing_to_list_and_none_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert_eq!(check(&data, &["sessions", "list"], 0).0, "");
    assert_eq!(check(&data, &["sessions", "list", "--json"], 0).0, "[]\n");
    for what in ["show", "export", "delete"] {
        assert!(check(&data, &["sessions", what, "nobody"], 1).1.contains("there is no session nobody"));
        check(&data, &["sessions", what, "../x"], 2);
    }
    assert_eq!(json(&data, &["sessions", "sweep", "--json"])["evidence"], 0);
    assert!(!data.exists());
    let (folder, _) = investigated();
    let data = folder.path().join("data");
    for what in ["show", "export", "delete"] {
        assert!(check(&data, &["sessions", what, "nobody"], 1).1.contains("hint: `ghost sessions list`"));
    }
    assert_eq!(json(&data, &["sessions", "list", "--json"]).as_array().unwrap().len(), 1);
}
