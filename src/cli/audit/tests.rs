//! Facts about what `ghost audit` prints.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::command::{open, print, print_json, show, verify};
use super::text;
use ghost_base::{Digest, Timestamp};
use ghost_shell::audit::{Approval, Entry, Evidence, Kind, Log, verify as check};
use ghost_shell::{Reviewer, Verdict};

fn session(folder: &Path, commands: &[&str]) -> PathBuf {
    let mut log = Log::open(folder, "s1".parse().unwrap()).unwrap();
    for command in commands {
        log.append(Timestamp::from_millis(0), &Entry::new(Kind::Decided, *command)).unwrap();
    }
    log.path().to_path_buf()
}

fn rendered(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    text::write(&check(bytes, None).unwrap(), bytes, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn printed(bytes: &[u8], head: Option<&str>) -> String {
    let mut out = Vec::new();
    print(&check(bytes, head).unwrap(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn records_are_printed_in_the_order_of_writing() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), "s1".parse().unwrap()).unwrap();
    let at = Timestamp::from_millis;
    let intent = Entry {
        verdict: Some(Verdict::Risky),
        action: Some("user_approved".into()),
        reasoning: Some("the link flaps".into()),
        approver: Some(Approval::new(&Reviewer::new("alice"), at(500))),
        ..Entry::new(Kind::Intent, "ip link set eth0 down")
    };
    let receipt = log.append(at(1000), &intent).unwrap();
    let done = Entry {
        audit_id: Some(receipt.audit_id),
        status: Some("completed".into()),
        exit_code: Some(2),
        duration_ms: Some(1250),
        evidence: Some(Evidence { sha256: Digest::of(""), bytes: 0 }),
        ..Entry::new(Kind::Done, "ip link set eth0 down")
    };
    log.append(at(2250), &done).unwrap();
    let expected = format!(
        "verified: 2 records

1970-01-01T00:00:01.000Z  #1  s1-0001  intent  RISKY  user_approved
    $ ip link set eth0 down
    wanted because: the link flaps
    answered by: alice at 1970-01-01T00:00:00.500Z

1970-01-01T00:00:02.250Z  #2  s1-0001  done  completed  exit 2  1.250 s
    $ ip link set eth0 down
    evidence: 0 bytes, sha256 {}
",
        Digest::of("")
    );
    assert_eq!(rendered(&fs::read(log.path()).unwrap()), expected);
}

#[test]
fn a_hostile_command_cannot_fake_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "a\n1970 #9 approved\r\u{1b}[2J\u{9b}0m\u{202e}\u{200b}\u{2028}\u{7f}\\n 'é' \"q\"";
    let path = session(folder.path(), &[hostile]);
    let output = rendered(&fs::read(path).unwrap());
    let line = output.lines().find(|line| line.contains('$')).unwrap();
    let escaped = r"    $ a\n1970 #9 approved\r\u{1b}[2J\u{9b}0m\u{202e}\u{200b}\u{2028}\u{7f}\\n 'é' ";
    assert_eq!(line, format!("{escaped}\"q\""));
    assert!(output.chars().all(|char| char == '\n' || !char.is_control()));
}

#[test]
fn hostile_bytes_in_a_broken_file_reach_no_terminal() {
    let output =
        rendered(b"\x1b[2J\n{\"at\":\"\x7f\\u001b[2J\",\"kind\":{\"\\u009b\":[]},\"seq\":\"\\u202e\"}\n");
    assert!(output.starts_with("NOT verified: record 1"), "{output}");
    assert!(output.contains("(5 bytes that are no record)"), "{output}");
    assert!(
        output.chars().all(|char| char == '\n' || (!char.is_control() && char != '\u{202e}')),
        "{output:?}"
    );
}

#[test]
fn the_output_says_first_whether_the_file_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &["one", "two"]);
    let broken = fs::read_to_string(path).unwrap().replace("two", "too");
    let output = rendered(broken.as_bytes());
    let first = "NOT verified: record 2, line 2: its bytes do not match its hash (good before it: 1 record)";
    assert_eq!(output.lines().next().unwrap(), first);
    assert!(output.contains("$ too"));
}

#[test]
fn the_json_output_is_one_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &["one", "two"]);
    let bytes = [fs::read(path).unwrap(), b"torn".to_vec()].concat();
    let mut out = Vec::new();
    text::write_json(&check(&bytes[..], None).unwrap(), &bytes[..], &mut out).unwrap();
    let value: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(value["verification"]["ok"], false);
    assert_eq!(value["records"][1]["command"], "two");
    assert_eq!(value["records"][2]["unreadable_bytes"], 4);
}

#[test]
fn a_verification_prints_as_the_contracts_say() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(session(folder.path(), &["one", "two"])).unwrap();
    let found = check(&bytes[..], None).unwrap();
    let mut out = Vec::new();
    print_json(&found, &mut out).unwrap();
    let value: Value = serde_json::from_slice(&out).unwrap();
    let expected = serde_json::json!({
        "ok": true, "records": 2, "head": found.head, "after_head": null, "first_bad": null, "reason": null,
    });
    assert_eq!(value, expected);
    let head = found.head.unwrap();
    assert_eq!(printed(&bytes, None), format!("verified: 2 records\nhead {head}\n"));
    assert!(printed(&bytes, Some(&head)).contains("the given head is the last"));
    assert!(printed(&bytes, Some(&"0".repeat(64))).starts_with("NOT verified: the given head"));
}

#[test]
fn the_exit_code_tells_bad_news_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), &["one"]);
    assert_eq!(verify(&path, None, true).unwrap(), 0);
    let head = "0".repeat(64);
    assert_eq!(verify(&path, Some(&head), true).unwrap(), 3);
    assert_eq!(verify(&path, Some(&head), false).unwrap(), 3);
    show(&path, false).unwrap();
    show(&path, true).unwrap();
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let refusal = |path: &Path| open(path, false).unwrap_err().to_string();
    assert!(refusal(&path).starts_with("opening "));
    assert!(refusal(folder.path()).contains("not a regular file"));
    assert!(refusal(Path::new("/dev/zero")).contains("not a regular file"));
    let file = fs::File::create(&path).unwrap();
    assert!(refusal(&path).contains("is empty"));
    assert_eq!(verify(&path, Some("x"), true).unwrap(), 3);
    file.set_len(10 << 30).unwrap();
    assert!(refusal(&path).contains("is read up to 268435456"));
}
