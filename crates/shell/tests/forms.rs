//! Every form of text that the gate runs without a shell prints what bash prints.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic, reads its settings and starts what it compares with"
)]

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use ghost_shell::{DenyAll, Limits, Policy, Sandbox, Shell, Status, Verdict};

/// Texts; `DIR` is a folder with reports, two of which are equal.
const TEXTS: &[&str] = &[
    "cat DIR/*_comparison.md",
    "cat -n DIR/a*_comparison.md DIR/b_comparison.md",
    "grep -c x DIR/*_comparison.md",
    "grep -h x DIR/*_comparison.md | sort | uniq -c",
    "head -n 1 DIR/*_comparison.md",
    "wc -l DIR/*_forensic_report.md",
    "cat DIR/none*_comparison.md",
    "cat DIR/none*_comparison.md 2>/dev/null || echo none",
    "md5sum DIR/*_comparison.md",
    "sha256sum /etc/hosts DIR/b*_comparison.md",
    "awk '{n++} END {print n}' DIR/*_comparison.md",
    "awk -F: '/x/ {c[$1]++} END {for (k in c) print k, c[k]}' DIR/a_comparison.md",
    "awk -v limit=1 'NR > limit {print FILENAME, $1}' DIR/a_comparison.md DIR/b_comparison.md",
    "awk '!seen[$0]++' DIR/*_comparison.md | wc -l",
    "awk '{printf \"%-5s|%3d\\n\", $1, NR}' DIR/a_comparison.md",
    "awk '{sub(/x/, \"y\"); print toupper($0)}' DIR/b_comparison.md",
    "cat DIR/a_comparison.md | awk '{s[$1]++} END {for (k in s) print k, s[k]}'",
    "cat DIR/a_comparison.md | sed -n -e '/x/p' -e 's/x/y/p'",
    "echo '{\"a\":[1,2]}' | jq",
    "echo '{\"a\":[1,2]}' | jq -c --arg k a '.[$k]'",
    "diff <(cat DIR/a_comparison.md) <(cat DIR/b_comparison.md)",
    "diff DIR/a_comparison.md <(cat DIR/c_comparison.md) && echo same",
    "diff -U 0 --label a --label b <(echo 1; cat DIR/a_comparison.md | sort) <(cat DIR/b_comparison.md | sort)",
    "comm -12 <(cat DIR/a_comparison.md | sort) <(cat DIR/b_comparison.md | sort)",
    "comm -3 <(cat DIR/a_comparison.md | sort) <(cat DIR/b_comparison.md DIR/c_comparison.md | sort)",
    "cmp -s <(cat DIR/a_comparison.md) <(cat DIR/b_comparison.md) || echo differ",
    "cmp -s <(cat DIR/a_comparison.md) DIR/c_comparison.md && echo same",
    "cat <(head -n 1 DIR/a_comparison.md; echo middle) <(grep -q nothing DIR/a_comparison.md || echo or) <(true && cat <(echo inner))",
    "cat <(cat DIR/*_comparison.md) DIR/b*_comparison.md | wc -l",
    "cat <(echo a) <(echo b) | tr a-z A-Z # in capitals",
    "wc -c <(cat DIR/a_comparison.md) | cut -d ' ' -f 1",
    "timeout 5 cat <(echo a)",
    "cat <(grep nothing DIR/a_comparison.md) <(echo b)",
    "cat <(cat DIR/*_comparison.md | sort | uniq -d) | head -n 2",
    "# a comment\necho a # another\necho 'b # c' d#e",
];

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a_comparison.md", "x:1 one\nx:2 two\ny:1 three\n"),
        ("b_comparison.md", "x:1 one\nz\n"),
        ("c_comparison.md", "x:1 one\nx:2 two\ny:1 three\n"),
        (".hidden_comparison.md", "hidden\n"),
        ("one_forensic_report.md", "1\n"),
        ("two_forensic_report.md", "1\n2\n"),
        ("secret.txt", "secret\n"),
    ] {
        std::fs::write(place.path().join(name), text).unwrap();
    }
    place
}

fn shell(data: &Path, captures: &Path) -> Shell {
    let limits = Limits { timeout: Duration::from_secs(60), ..Limits::default() };
    let builder = Shell::builder("forms".parse().unwrap(), data).approver(Arc::new(DenyAll));
    let policy = Policy::builtin().unwrap().clone().captures_in(captures);
    let builder = builder.policy(Arc::new(policy)).captures(captures.to_owned());
    builder.limits(limits).sandbox(Sandbox::BestEffort).build().unwrap()
}

fn bash(text: &str) -> Output {
    Command::new("/bin/bash").args(["-c", text]).env("LC_ALL", "C").output().unwrap()
}

#[tokio::test]
async fn what_the_gate_runs_prints_what_bash_prints() {
    let (data, place) = (tempfile::tempdir().unwrap(), place());
    let shell = shell(data.path(), place.path());
    let mut wrong = Vec::new();
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    let is_left_out = |text: &str| {
        let mut words = text.split([' ', '(']);
        words.any(|word| !word.is_empty() && without.split([',', ' ']).any(|name| name == word))
    };
    for text in TEXTS.iter().filter(|text| !is_left_out(text)) {
        let text = text.replace("DIR", place.path().to_str().unwrap());
        let (ours, theirs) = (shell.run(&text, "compare").await, bash(&text));
        let expected = String::from_utf8(theirs.stdout).unwrap();
        let same = ours.output.trim_end() == expected.trim_end() && ours.exit_code == theirs.status.code();
        let ran = ours.classification == Verdict::Safe && ours.status == Status::Completed;
        if !same || !ran {
            wrong.push(format!("{text}: {ours:?}\nbash: {expected:?} {}", theirs.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_pattern_that_matches_what_may_not_be_read_asks() {
    let (data, place) = (tempfile::tempdir().unwrap(), place());
    std::os::unix::fs::symlink("/etc/passwd", place.path().join("link_comparison.md")).unwrap();
    std::fs::create_dir(place.path().join("folder_comparison.md")).unwrap();
    let shell = shell(data.path(), place.path());
    let dir = place.path().to_str().unwrap();
    for (text, rule) in [
        ("cat DIR/l*_comparison.md", "file.link"),
        ("cat <(cat DIR/l*_comparison.md)", "file.link"),
        ("diff DIR/folder_comparison.md <(echo a)", "file.other"),
        ("diff DIR/folder*_comparison.md <(echo a)", "file.other"),
        ("cat DIR/*.txt", "text.glob"),
        ("cat DIR/sec*", "text.glob"),
        ("cat <(touch /nonexistent/x)", "text.substitution"),
    ] {
        let answer = shell.run(&text.replace("DIR", dir), "look").await;
        assert_eq!((answer.status, answer.rule.as_str()), (Status::Denied, rule), "{text}: {answer:?}");
        assert!(!answer.output.contains("root:"), "{text}");
    }
}
