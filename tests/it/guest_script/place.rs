//! Where scripts run: no network, no programs, an empty folder, and functions in the place of programs that write down their words.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::Judged;
use crate::random::setting;

/// Every name that a script could start, and `touch`, which makes the marker too.
const NAMES: &[&str] = &[
    "ss", "ip", "uname", "uptime", "ping", "netstat", "df", "nproc", "whoami", "id", "cat", "free", "dig",
    "grep", "head", "tail", "sort", "uniq", "wc", "cut", "tr", "column", "awk", "sed", "tac", "rev", "nl",
    "touch", "tee", "sh", "xargs", "env", "az", "timeout", "echo", "true", "printf", "type",
];

/// What is a part of the shell does what it does there beside writing down its words: its own options may run code.
const BUILTINS: &[&str] = &["echo", "true", "printf", "type"];

/// Tells why nothing can be run here.
pub(super) fn skipped() -> Option<String> {
    let without = setting("GHOST_TEST_WITHOUT");
    let named = ["unshare", "dash", "bash"]
        .into_iter()
        .find(|name| without.split(',').any(|word| word.trim() == *name));
    named.map(|name| format!("GHOST_TEST_WITHOUT names {name}"))
}

fn program(batch: &[Judged]) -> String {
    let mut text = String::new();
    // One write a command, so that the stages of a pipe do not mix their words.
    for name in NAMES {
        let marks = if *name == "touch" { ": > MARKER;" } else { "" };
        let runs = if BUILTINS.contains(name) { format!("command {name} \"$@\"; ") } else { String::new() };
        text.push_str(&format!(
            "{name}() {{ {marks} command printf '%s\\0' \"---C$at\" {name} \"$@\" ---E >&9; {runs}}}\n"
        ));
    }
    // Where a guest has no right it asks for it; the gate drops the word.
    text.push_str("sudo() { [ \"$1\" != -n ] || shift; \"$@\"; }\n");
    for (at, judged) in batch.iter().enumerate() {
        let quoted = judged.text.replace('\'', r"'\''");
        text.push_str(&format!("at={at}; ( eval '{quoted}' )\n"));
    }
    text
}

/// Runs every script of a batch; returns what each started, and the files that appeared.
#[expect(clippy::disallowed_methods, reason = "real shells run what was judged")]
pub(super) fn run(shell: &str, batch: &[Judged]) -> (Vec<Vec<Vec<String>>>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let (log, text) = (folder.path().join("log"), folder.path().join("scripts"));
    std::fs::File::create(&text).unwrap().write_all(program(batch).as_bytes()).unwrap();
    let start = "exec 9>>\"$2\"; exec \"$0\" \"$1\"";
    let status = Command::new("/usr/bin/unshare")
        .args(["--net", "--mount", "/bin/sh", "-c", start, shell])
        .args([&text, &log])
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(&work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // The path of `unshare` itself is looked up by the test.
    assert!(status.is_ok(), "missing: unshare; GHOST_TEST_WITHOUT=unshare skips it");
    let files = std::fs::read_dir(&work)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    (started(&std::fs::read(&log).unwrap(), batch.len()), files)
}

fn started(log: &[u8], count: usize) -> Vec<Vec<Vec<String>>> {
    let mut all = vec![Vec::new(); count];
    let mut open: Option<(usize, Vec<String>)> = None;
    for word in String::from_utf8_lossy(log).split_terminator('\0') {
        match (word.strip_prefix("---C").and_then(|at| at.parse().ok()), word, open.take()) {
            (Some(at), _, _) => open = Some((at, Vec::new())),
            (None, "---E", Some((at, words))) => {
                all.get_mut(at).into_iter().for_each(|list: &mut Vec<_>| list.push(words.clone()))
            }
            (None, word, Some((at, mut words))) => {
                words.push(word.to_owned());
                open = Some((at, words));
            }
            (None, _, None) => {}
        }
    }
    all
}
