//! `ghost shell bench` over small corpora of our own.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn fixture(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    root.join(name).to_str().unwrap().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn judge(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["shell", "bench"])
        .args(arguments)
        .env_clear()
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn every_judge_counts_the_same_commands() {
    let (corpus, rules) = (fixture("shell/corpora/corpus"), fixture("shell/corpora/example.rules"));
    let output = judge(&[&corpus, "--execpolicy", &rules, "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        answer["corpora"][0],
        json!({
            "corpus": corpus,
            "files": 5,
            "skipped": 1,
            "commands": 8,
            "ghost": { "safe": 3, "risky": 3, "blocked": 2 },
            "execpolicy": { "allow": 2, "prompt": 5, "forbidden": 1 },
            "first_words": { "allow": 5, "ask": 3 },
            "selection": null,
        })
    );
    assert_eq!(answer["execpolicy_rules"], 4);
    assert!(String::from_utf8_lossy(&output.stderr).contains("passed over 1"));
}

#[test]
fn people_get_a_table_and_the_commands_of_a_verdict() {
    let corpus = fixture("shell/corpora/corpus");
    let table = printed(&judge(&[&corpus]));
    let row = table.lines().last().unwrap().split_whitespace().skip(1).collect::<Vec<_>>();
    assert_eq!(row, ["8", "3", "3", "2", "5", "3"], "{table}");
    let blocked = printed(&judge(&[&corpus, "--show", "blocked"]));
    let places: Vec<String> =
        blocked.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(places, ["atomic/T0000 1", "lines 2"], "{blocked}");
}

#[test]
fn a_list_of_first_words_is_taken_from_a_file() {
    let words = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(words.path(), "spin\n").unwrap();
    let output =
        judge(&[&fixture("shell/corpora/corpus"), "--first-words", words.path().to_str().unwrap(), "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["first_words"], &answer["corpora"][0]["first_words"]["allow"]),
        (&json!(1), &json!(2))
    );
}

/// What is not in the corpus at hand is named, so that a list that grew old shows it.
#[test]
fn the_list_of_reads_in_tldr_pages_is_understood() {
    let list = fixture("shell/tldr-read-only.txt");
    let table = printed(&judge(&[&fixture("shell/corpora/corpus/tldr"), "--only", &list]));
    assert!(table.contains("of 0 that should run at once 0 do; of 0 that have to ask 0 do not"), "{table}");
    assert!(table.contains("not in the corpus: linux/ss 1\n"), "{table}");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    for (arguments, why) in [
        (vec!["/nonexistent"], "/nonexistent"),
        (vec!["/dev/null", "--execpolicy", "/nonexistent"], "/nonexistent"),
        (vec!["/dev/null", "--only", "/proc/version"], "line 1"),
    ] {
        let output = judge(&arguments);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), printed.contains(why)), (Some(1), true), "{printed}");
    }
}
