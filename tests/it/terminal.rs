//! The terminal gate at a real terminal: a pseudo-terminal whose other side this test holds.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(20);
/// A whole investigation shows nothing for as long as it reads or records.
const LONG_PATIENCE: Duration = Duration::from_secs(120);
const PROMPT: &str = "[A]pprove  [D]eny  [M]odify";

/// A `ghost` that believes that a human sits before it.
pub(crate) struct Terminal {
    ours: File,
    child: Child,
    /// What standard output gets.
    printed: File,
    seen: String,
}

impl Terminal {
    /// Starts `ghost shell run` on a fresh terminal, into which `typed_ahead` was typed before.
    fn run(data: &Path, command: &str, typed_ahead: &str) -> Self {
        Self::of_kind("dumb", data, command, typed_ahead)
    }

    fn of_kind(kind: &str, data: &Path, command: &str, typed_ahead: &str) -> Self {
        let data = data.to_string_lossy();
        let shell = ["shell", "run", command, "--reasoning", "because I say so"];
        let how = ["--approve", "ask", "--json", "--session", "s1", "--data-dir", &data];
        Self::start(kind, &[&shell[..], &how[..]].concat(), typed_ahead)
    }

    /// Starts `ghost` on a fresh terminal of a kind.
    pub(crate) fn start(kind: &str, arguments: &[&str], typed_ahead: &str) -> Self {
        Self::start_within(kind, arguments, typed_ahead, &[])
    }

    /// Starts it with some variables more.
    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    pub(crate) fn start_within(
        kind: &str,
        arguments: &[&str],
        typed_ahead: &str,
        variables: &[(&str, String)],
    ) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let mut ours = File::from(ours);
        ours.write_all(typed_ahead.as_bytes()).unwrap();
        let side = |theirs: &OwnedFd| Stdio::from(theirs.try_clone().unwrap());
        // A pipe that nobody reads meanwhile would hold the program up.
        let printed = tempfile::tempfile().unwrap();
        let child = Command::new("setsid")
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_ghost")])
            .args(arguments)
            .env("TERM", kind)
            .envs(variables.iter().map(|(name, value)| (*name, value)))
            .stdin(side(&theirs))
            .stderr(side(&theirs))
            .stdout(printed.try_clone().unwrap())
            .spawn()
            .unwrap();
        Self { ours, child, printed, seen: String::new() }
    }

    /// Waits until the terminal shows a text, and forgets everything up to it.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{text:?} never came; seen: {:?}", self.seen);
            let mut ready = [PollFd::new(&self.ours, PollFlags::IN)];
            poll(&mut ready, Some(&Timespec { tv_sec: 1, tv_nsec: 0 })).unwrap();
            if ready[0].revents().contains(PollFlags::IN) {
                let mut buffer = [0; 4096];
                let count = self.ours.read(&mut buffer).unwrap_or(0);
                self.seen.push_str(&String::from_utf8_lossy(buffer.get(..count).unwrap()));
            }
        }
    }

    /// Approves whatever is asked until the terminal shows a text; `false` where the program ended before it did.
    pub(crate) fn approve_until(&mut self, text: &str) -> bool {
        let mut deadline = Instant::now() + LONG_PATIENCE;
        loop {
            let (shown, asked) = (self.seen.find(text), self.seen.find(PROMPT));
            if let Some(at) = shown.filter(|at| asked.is_none_or(|asked| *at < asked)) {
                self.seen.drain(..at + text.len());
                return true;
            }
            if let Some(at) = asked {
                self.seen.drain(..at + PROMPT.len());
                self.type_in("a\n");
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{text:?} never came; seen: {:?}", self.seen);
            let mut ready = [PollFd::new(&self.ours, PollFlags::IN)];
            poll(&mut ready, Some(&Timespec { tv_sec: 1, tv_nsec: 0 })).unwrap();
            if !ready[0].revents().is_empty() {
                let mut buffer = [0; 4096];
                let count = self.ours.read(&mut buffer).unwrap_or(0);
                if count == 0 {
                    return false;
                }
                self.seen.push_str(&String::from_utf8_lossy(buffer.get(..count).unwrap()));
                deadline = Instant::now() + LONG_PATIENCE;
            }
        }
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.ours.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for the end; returns whether it ended well, and what standard output held.
    pub(crate) fn end(mut self) -> (bool, String) {
        let success = self.child.wait().unwrap().success();
        (success, self.printed())
    }

    /// Returns what standard output holds of a program that is over.
    fn printed(&mut self) -> String {
        let mut text = String::new();
        self.printed.rewind().unwrap();
        self.printed.read_to_string(&mut text).unwrap();
        text
    }

    /// Kills the program and waits until it is gone.
    pub(crate) fn kill(mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        // The child is `setsid`; the program is the leader of the session that it began.
        rustix::process::test_kill_process(group).unwrap();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end and returns the response.
    fn response(mut self) -> Value {
        let code = self.child.wait().unwrap().code();
        let response: Value = serde_json::from_str(&self.printed()).unwrap();
        let expected = if response.get("status") == Some(&Value::from("completed")) { 0 } else { 3 };
        assert_eq!(code, Some(expected), "seen: {:?}", self.seen);
        response
    }
}

fn settled(response: &Value) -> (&str, &str) {
    (response["status"].as_str().unwrap(), response["action"].as_str().unwrap())
}

#[test]
fn a_letter_or_a_word_in_either_case_approves() {
    for answer in ["a\n", "A\n", "approve\n", "APPROVE\n"] {
        let data = tempfile::tempdir().unwrap();
        let mut terminal = Terminal::run(data.path(), "sh -c 'echo hello'", "");
        terminal.wait_for(PROMPT);
        terminal.type_in(answer);
        let response = terminal.response();
        assert_eq!(
            (settled(&response), &response["output"]),
            (("completed", "user_approved"), &Value::from("hello\n")),
            "{answer:?}"
        );
    }
}

#[test]
fn the_whole_command_its_reasoning_and_its_risk_are_shown() {
    let data = tempfile::tempdir().unwrap();
    let command = format!("touch /nonexistent/{} && rm -rf /nonexistent/end", "x".repeat(600));
    let mut terminal = Terminal::run(data.path(), &command, "");
    let shown = terminal.wait_for(PROMPT).replace("\r\n", "\n");
    assert!(
        shown.contains(&command) && shown.contains("because I say so") && shown.contains("sh -c"),
        "{shown}"
    );
    terminal.type_in("d\n\n");
    assert_eq!(settled(&terminal.response()), ("denied", "user_denied"));
}

#[test]
fn a_denial_asks_for_its_reason() {
    let data = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::run(data.path(), "sh -c 'echo hello'", "");
    terminal.wait_for(PROMPT);
    terminal.type_in("deny\n");
    terminal.wait_for("Reason");
    terminal.type_in("wrong host\n");
    let response = terminal.response();
    assert_eq!(
        (settled(&response), &response["reason"]),
        (("denied", "user_denied"), &Value::from("wrong host"))
    );
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let data = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::run(data.path(), "sh -c 'echo hello'", "a\napprove\n");
    terminal.wait_for(PROMPT);
    terminal.type_in("d\nno\n");
    assert_eq!(settled(&terminal.response()), ("denied", "user_denied"));
}

#[test]
fn an_answer_that_is_none_is_asked_again() {
    let data = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::run(data.path(), "sh -c 'echo hello'", "");
    terminal.wait_for(PROMPT);
    terminal.type_in("yes please\n");
    terminal.wait_for(PROMPT);
    terminal.type_in("\n");
    terminal.wait_for(PROMPT);
    terminal.type_in("d\nno\n");
    assert_eq!(settled(&terminal.response()), ("denied", "user_denied"));
}

#[test]
fn modify_begins_with_the_command_and_judges_what_became_of_it() {
    let data = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::of_kind("xterm", data.path(), "touch /nonexistent/x", "");
    terminal.wait_for(PROMPT);
    terminal.type_in("m\n");
    terminal.wait_for("Command > ");
    terminal.wait_for("touch /nonexistent/x");
    terminal.type_in("\u{15}uname -s\r");
    let response = terminal.response();
    assert_eq!(
        (settled(&response), &response["modified_command"]),
        (("completed", "user_modified"), &Value::from("uname -s"))
    );
}

#[test]
fn leaving_the_editor_is_no_denial_and_the_question_is_asked_again() {
    for leaving in ["\u{3}", "\u{15}\u{4}"] {
        let data = tempfile::tempdir().unwrap();
        let mut terminal = Terminal::of_kind("xterm", data.path(), "sh -c 'echo hello'", "");
        terminal.wait_for(PROMPT);
        terminal.type_in("m\n");
        terminal.wait_for("Command > ");
        terminal.wait_for("sh -c 'echo hello'");
        terminal.type_in(leaving);
        terminal.wait_for("The command stays as it is.");
        terminal.wait_for(PROMPT);
        terminal.type_in("a\n");
        let response = terminal.response();
        assert_eq!(settled(&response), ("completed", "user_approved"), "{leaving:?}");
    }
}

#[test]
fn a_terminal_that_knows_only_lines_shows_the_command_and_reads_the_new_one() {
    let data = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::run(data.path(), "touch /nonexistent/x", "");
    terminal.wait_for(PROMPT);
    terminal.type_in("modify\n");
    terminal.wait_for("The command is:\r\n  touch /nonexistent/x");
    terminal.type_in("uname -s\n");
    assert_eq!(settled(&terminal.response()), ("completed", "user_modified"));
}

#[test]
fn the_end_of_the_input_is_a_denial() {
    let data = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::run(data.path(), "sh -c 'echo hello'", "");
    terminal.wait_for(PROMPT);
    terminal.type_in("\u{4}");
    assert_eq!(settled(&terminal.response()), ("denied", "user_denied"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn without_a_terminal_the_end_of_the_input_is_a_denial() {
    let data = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args([
            "shell",
            "run",
            "sh -c 'echo hello'",
            "--reasoning",
            "r",
            "--approve",
            "ask",
            "--json",
            "--data-dir",
        ])
        .arg(data.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let response: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(settled(&response), ("denied", "user_denied"));
}
