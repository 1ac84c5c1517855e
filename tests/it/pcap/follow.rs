//! `--follow`: files that are written while they are read.

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::capture::{End, Segment, pcap, tcp};

/// SYNs that nobody answers, in a capture.
fn unanswered(count: u64) -> Vec<u8> {
    let (client, server) = (End { host: 1, port: 40_000 }, End { host: 2, port: 80 });
    let syn = Segment { seq: 7, flags: 2, win: 64_240, ..Segment::default() };
    let all: Vec<_> =
        (0..count).map(|second| (second * 1_000_000, tcp(false, client, server, &syn))).collect();
    pcap(&all, 65_535)
}

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(arguments: &[&str], folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["pcap", "analyze", "--follow", "--json"])
        .args(arguments)
        .env_clear()
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn at<'a>(line: &'a Value, path: &str) -> &'a Value {
    line.pointer(path).unwrap_or(&Value::Null)
}

type Lines = std::io::Lines<BufReader<ChildStdout>>;

fn lines(child: &mut Child) -> Lines {
    BufReader::new(child.stdout.take().unwrap()).lines()
}

/// Waits for a line about the unanswered SYNs, and returns what became of them at which frame.
fn printed(lines: &mut Lines) -> (String, u64) {
    loop {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert!(!at(&line, "/live").is_null(), "{line}");
        if at(&line, "/finding/code") == "syn_unanswered" {
            return (at(&line, "/live").as_str().unwrap().to_owned(), at(&line, "/frame").as_u64().unwrap());
        }
    }
}

/// Waits for the account, which is the last line.
fn account(lines: Lines) -> Value {
    let all: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let (last, before) = all.split_last().unwrap();
    assert!(before.iter().all(|line| !at(line, "/live").is_null()));
    last.clone()
}

#[test]
fn a_growing_file_is_reported_until_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grows.pcap");
    let capture = unanswered(20);
    let (first, rest) = capture.split_at(24 + 3 * 70 + 33);
    fs::write(&path, first).unwrap();
    let mut child = ghost(&["grows.pcap"], folder.path());
    let mut lines = lines(&mut child);
    assert_eq!(printed(&mut lines), ("new".to_owned(), 3));
    OpenOptions::new().append(true).open(&path).unwrap().write_all(rest).unwrap();
    assert_eq!(printed(&mut lines), ("more".to_owned(), 20));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let account = account(lines);
    assert_eq!(
        (at(&account, "/file/packets"), at(&account, "/file/cut_off")),
        (&Value::from(20), &Value::from(false))
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn standard_input_is_followed_until_it_closes() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = ghost(&["-"], folder.path());
    let mut input = child.stdin.take().unwrap();
    let capture = unanswered(3);
    let (first, rest) = capture.split_at(50);
    input.write_all(first).unwrap();
    input.flush().unwrap();
    input.write_all(rest).unwrap();
    let mut lines = lines(&mut child);
    assert_eq!(printed(&mut lines), ("new".to_owned(), 3));
    drop(input);
    assert_eq!(account(lines)["file"]["packets"], 3);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_file_that_is_replaced_or_shortened_ends_with_its_account() {
    for shorten in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turns.pcap");
        fs::write(&path, unanswered(3)).unwrap();
        let mut child = ghost(&["turns.pcap"], folder.path());
        let mut lines = lines(&mut child);
        assert_eq!(printed(&mut lines).0, "new");
        if shorten {
            OpenOptions::new().write(true).open(&path).unwrap().set_len(24).unwrap();
        } else {
            let other = folder.path().join("other.pcap");
            fs::write(&other, unanswered(1)).unwrap();
            fs::rename(other, &path).unwrap();
        }
        let account = account(lines);
        assert_eq!(
            (at(&account, "/file/packets"), at(&account, "/file/cut_off")),
            (&Value::from(3), &Value::from(true))
        );
        let said = at(&account, "/warnings").to_string();
        assert!(said.contains(if shorten { "shortened to 24" } else { "another file" }), "{said}");
        child.wait().unwrap();
    }
}

#[test]
fn following_ends_when_its_time_is_over_and_refuses_what_is_packed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pcap"), unanswered(1)).unwrap();
    fs::write(folder.path().join("a.pcap.gz"), [0x1f, 0x8b, 8, 0, 0, 0]).unwrap();
    let child = ghost(&["a.pcap", "--for", "1"], folder.path()).wait_with_output().unwrap();
    let account: Value = serde_json::from_slice(&child.stdout).unwrap();
    assert_eq!((child.status.code(), at(&account, "/file/packets")), (Some(0), &Value::from(1)));
    // Nothing is drawn where nobody watches.
    assert!(child.stderr.is_empty());
    let mut child = ghost(&["a.pcap.gz"], folder.path());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("packed with gzip") && said.contains("unpack it first"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
