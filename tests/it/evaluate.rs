//! `ghost lab eval`, as whoever scores investigations meets it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn eval(folder: &Path, arguments: &[&str]) -> Output {
    let ghost = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["lab", "eval"])
        .args(arguments)
        .env_clear()
        .env("HOME", folder)
        .current_dir(folder)
        .output();
    ghost.unwrap()
}

fn rows(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let row_text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{row_text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn script(folder: &Path, turns: &[Value]) -> String {
    let path = folder.join("turns.jsonl");
    let lines: Vec<String> = turns.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    path.display().to_string()
}

fn run(command: &str) -> Value {
    json!({"text": "", "calls": [{"tool": "run_shell_cmd", "arguments": {"command": command, "reasoning": "to know"}}]})
}

fn conclude() -> Value {
    let waived =
        ["topology", "rules", "routes", "guest", "shaping", "measure", "wire", "exposure", "storage"];
    let waived = waived.map(|layer| json!({"layer": layer, "why": "it is not what is tested"}));
    let arguments =
        json!({"confidence": "low", "root_cause_summary": "nothing is known yet", "waived": waived});
    let settled = json!({"update": [{"id": "H1", "state": "UNVERIFIABLE"}]});
    json!({"text": "", "calls": [{"tool": "manage_hypotheses", "arguments": settled},
        {"tool": "complete_investigation", "arguments": arguments}]})
}

fn suppose() -> Value {
    let arguments = json!({"add": [{"id": "H1", "description": "a rule blocks it"}]});
    json!({"text": "", "calls": [{"tool": "manage_hypotheses", "arguments": arguments}]})
}

const RULES: &str = "az network nsg rule list -g nw-forensics-rg --nsg-name tf-dest-vm-nsg -o json";
const FILTERS: &str = "az vm run-command invoke -g nw-forensics-rg -n tf-dest-vm --command-id RunShellScript --scripts 'iptables -F'";

#[test]
fn a_whole_session_runs_on_a_lab_in_the_process_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = script(folder.path(), &[suppose(), run(RULES), run(FILTERS), run("rm -rf /"), conclude()]);
    for (consent, commands) in [("all", 2), ("none", 1)] {
        let words = ["a", "--brain", "scripted", "--script", &script, "--approve", consent, "--json"];
        let rows = rows(&eval(folder.path(), &words));
        let row = &rows[0];
        assert_eq!((rows.len(), &row["id"]), (1, &json!("a")), "{row}");
        assert_eq!(row["commands"], commands, "{row}");
        assert_eq!((&row["approvals"], &row["blocked"], &row["unsafe"]), (&json!(1), &json!(1), &json!(0)));
        assert_eq!(row["found"], json!([]));
        assert!(row.as_object().unwrap()["report"].is_null(), "{row}");
        assert!(row["overhead_ms"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row["expected"][0]["fault"], "nsg_deny");
    }
    assert!(!folder.path().join(".local/state/ghost/eval").exists());
}

#[test]
fn phases_are_lines_and_what_is_kept_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (keep, board) = (folder.path().join("kept"), folder.path().join("board"));
    let (keep, board) = (keep.display().to_string(), board.display().to_string());
    let script = script(folder.path(), &[suppose(), run(RULES), conclude()]);
    let words =
        ["t", "--brain", "scripted", "--script", &script, "--keep", &keep, "--scoreboard", &board, "--json"];
    let rows = rows(&eval(folder.path(), &words));
    let ids: Vec<&Value> = rows.iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, [&json!("t/1"), &json!("t/2")]);
    for row in &rows {
        let report = std::fs::read_to_string(row["report"].as_str().unwrap()).unwrap();
        assert!(!report.is_empty());
    }
    let board = Path::new(&board);
    let whole: Value =
        serde_json::from_slice(&std::fs::read(board.join("scoreboard.json")).unwrap()).unwrap();
    assert_eq!(whole["cases"], 2);
    assert!(std::fs::read_to_string(board.join("scoreboard.md")).unwrap().contains("| t/2 |"));
}

#[test]
fn cases_are_drawn_the_same_for_the_same_seed() {
    let folder = tempfile::tempdir().unwrap();
    let script = script(folder.path(), &[suppose(), conclude()]);
    let draw = |seed: &str| {
        let words = ["--random", "3", "--seed", seed, "--brain", "scripted", "--script", &script, "--json"];
        let row_text = |row: &Value| row["expected"].to_string() + &row["id"].to_string();
        rows(&eval(folder.path(), &words)).iter().map(row_text).collect::<BTreeSet<String>>()
    };
    assert_eq!(draw("7"), draw("7"));
    assert_ne!(draw("7"), draw("8"));
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (words, row_text) in [
        (["zz", "--json"], "there is no case `zz`"),
        (["a", "--az=/nonexistent/az"], "there is no program /nonexistent/az"),
        (["a", "--approve=some"], "all, none or random:SEED"),
    ] {
        let output = eval(folder.path(), &words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(1 | 2)) && output.stdout.is_empty(), "{error}");
        assert!(error.contains(row_text), "{error}");
    }
}

/// What nobody says, and what is not for people.
const UNSPOKEN: [&str; 15] = [
    "ghost-ghost-",
    "by model",
    "{\"",
    "U0LAB",
    "finding, confirmed",
    "findings, confirmed",
    "nothing that is slow",
    "not there any more",
    "what no setting shows: ",
    "the playbook failed",
    "\\u{",
    "auto_approved",
    "by code, in what was recorded",
    "knock",
    "blocked by `",
];

/// Returns runs of hexadecimal digits that are longer than any word: digests and ids.
fn digests(text: &str) -> Vec<&str> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    words
        .filter(|word| {
            word.len() >= 20 && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
        })
        .collect()
}

#[test]
fn reports_of_cases_begin_with_the_answer_and_hold_no_words_of_machines() {
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().join("kept").display().to_string();
    let rows = rows(&eval(folder.path(), &["j", "b", "c", "w", "v", "d", "--keep", &keep, "--json"]));
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let report = std::fs::read_to_string(row["report"].as_str().unwrap()).unwrap();
        let answer = report.split("\n## ").next().unwrap();
        let lines: Vec<&str> = answer.lines().filter(|line| !line.is_empty()).collect();
        assert!(
            lines[0].starts_with("# Root cause: ") || lines[0].starts_with("# No fault found: "),
            "{answer}"
        );
        let below = lines.iter().filter(|line| line.starts_with("- ")).count();
        assert!(below <= 8 && lines.len() <= 10, "{answer}");
        // The digests that verify the report stand in its last section, and nowhere else.
        let read = report.split("\n## Integrity").next().unwrap();
        for word in UNSPOKEN {
            assert!(!read.contains(word), "{word:?} in the report of {}", row["id"]);
        }
        assert_eq!(digests(read), Vec::<&str>::new(), "in the report of {}", row["id"]);
    }
    let j = std::fs::read_to_string(rows[0]["report"].as_str().unwrap()).unwrap();
    let first = "# Root cause: tf-dest-vm drops tcp/5001: iptables INPUT rule 1\n\n**Remove it, or allow 10.0.1.4 before it.**\n";
    assert!(j.starts_with(first), "{j}");
    assert!(j.contains(
        "- Also degraded: tf-source-vm delays packets on eth0 by 30 ms (netem). Remove the shaping on eth0."
    ));
}

/// The scoreboard that the repository shows, made by `ghost lab eval --scoreboard demo`.
#[test]
fn the_scoreboard_of_the_demo_has_every_case() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    let table = std::fs::read_to_string(demo.join("scoreboard.md")).unwrap();
    let whole: Value = serde_json::from_slice(&std::fs::read(demo.join("scoreboard.json")).unwrap()).unwrap();
    let rows = whole["rows"].as_array().unwrap();
    let mut missing = Vec::new();
    for (_, text) in ghost_lab::case::CASES {
        let case = ghost_lab::case::Case::read(text).unwrap();
        for (phase, number) in case.phases.iter().zip(1..) {
            let several = case.phases.len() > 1;
            let id = if several { format!("{}/{number}", case.id) } else { case.id.clone() };
            let expected = serde_json::to_value(&phase.expected).unwrap();
            let row = rows.iter().find(|row| row["id"] == id.as_str() && row["expected"] == expected);
            if row.is_none() || !table.contains(&format!("| {id} | {} |", case.title)) {
                missing.push(id);
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "`ghost lab eval --scoreboard demo` makes it anew");
    assert_eq!(whole["cases"], rows.len());
    for row in rows {
        assert!(
            row["seconds"].is_null() && row["report"].is_null(),
            "what differs between machines is not compared: {row}"
        );
    }
}
