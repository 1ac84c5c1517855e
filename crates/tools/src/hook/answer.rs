//! What a hook answers, in the words of each client.
//!
//! Both clients take for consent whatever they do not understand, exit code 1 and silence included. Exit code 2 with a line on standard
//! error is the one answer that stops them everywhere; Codex goes on where that line is missing.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::call::{Client, HookEvent};
use ghost_shell::visible;

/// The exit code that stops every client.
pub(super) const STOP: u8 = 2;

/// What `generic` ends with where the call may not happen: it was judged, and the answer is no.
const DENIED: u8 = 3;

/// What `generic` ends with where somebody else has to be asked.
const UNDECIDED: u8 = 4;

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It may happen, and nobody else has to be asked.
    Allow {
        /// Why.
        reason: String,
        /// The command that runs in place of the one that was sent, where a human changed it.
        changed: Option<String>,
        /// Names its records.
        audit_id: String,
    },
    /// Nothing is said against it; the client's own rules decide.
    Pass {
        /// Why.
        reason: String,
        /// Names its records.
        audit_id: String,
    },
    /// Whoever sits in front of the client decides.
    Ask {
        /// Why.
        reason: String,
        /// Names its records.
        audit_id: String,
    },
    /// It may not happen.
    Refuse {
        /// Why, for the model.
        reason: String,
        /// Names its records; empty where there are none.
        audit_id: String,
    },
}

/// An answer as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// The document on standard output; empty for none.
    pub stdout: String,
    /// The line on standard error; empty for none.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
}

impl Answer {
    /// Writes the answer as a client reads it.
    pub(super) fn written(&self, client: Client, event: HookEvent, input: &Map<String, Value>) -> Written {
        match (client, event) {
            (Client::Claude, HookEvent::PreToolUse) => self.claude(input),
            (Client::Claude, HookEvent::PermissionRequest) => self.claude_permission(input),
            (Client::Codex, HookEvent::PreToolUse) => self.codex(),
            (Client::Codex, HookEvent::PermissionRequest) => self.codex_permission(),
            (Client::Generic, _) => self.generic(),
        }
    }

    fn claude(&self, input: &Map<String, Value>) -> Written {
        let decision = |word: &str, reason: &str, changed: Option<&str>| {
            let mut output = json!({
                "hookEventName": "PreToolUse",
                "permissionDecision": word,
                "permissionDecisionReason": line(reason),
            });
            if let (Some(command), Some(output)) = (changed, output.as_object_mut()) {
                output.insert("updatedInput".to_owned(), with_command(input, command));
            }
            document(&json!({ "hookSpecificOutput": output }))
        };
        match self {
            Self::Allow { reason, changed, .. } => decision("allow", reason, changed.as_deref()),
            Self::Pass { .. } => quiet(),
            Self::Ask { reason, .. } => decision("ask", reason, None),
            Self::Refuse { reason, .. } => stop(reason),
        }
    }

    /// Exit code 2 is no decision here, so that a refusal is a document.
    fn claude_permission(&self, input: &Map<String, Value>) -> Written {
        let decision = |decision: Value| {
            let output = json!({ "hookEventName": "PermissionRequest", "decision": decision });
            document(&json!({ "hookSpecificOutput": output }))
        };
        match self {
            Self::Allow { changed: Some(command), .. } => {
                decision(json!({ "behavior": "allow", "updatedInput": with_command(input, command) }))
            }
            Self::Allow { changed: None, .. } => decision(json!({ "behavior": "allow" })),
            Self::Pass { .. } | Self::Ask { .. } => quiet(),
            Self::Refuse { reason, .. } => decision(json!({ "behavior": "deny", "message": line(reason) })),
        }
    }

    /// Codex knows no word for yes but silence, and cannot ask.
    fn codex(&self) -> Written {
        match self {
            Self::Allow { reason, changed: Some(command), .. } => document(&json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "permissionDecisionReason": line(reason),
                "updatedInput": { "command": command },
            } })),
            Self::Allow { changed: None, .. } | Self::Pass { .. } => quiet(),
            Self::Ask { reason, .. } | Self::Refuse { reason, .. } => stop(reason),
        }
    }

    fn codex_permission(&self) -> Written {
        match self {
            Self::Allow { changed: None, .. } => document(&json!({ "hookSpecificOutput": {
                "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" },
            } })),
            // It takes no changed command here, and would ask about the one that nobody approved.
            Self::Allow { changed: Some(command), .. } => {
                stop(&format!("it was approved as another command; propose exactly this one: {command}"))
            }
            Self::Pass { .. } | Self::Ask { .. } => quiet(),
            Self::Refuse { reason, .. } => stop(reason),
        }
    }

    fn generic(&self) -> Written {
        let (decision, reason, changed, audit_id, code) = match self {
            Self::Allow { reason, changed, audit_id } => ("allow", reason, changed.as_ref(), audit_id, 0),
            Self::Pass { reason, audit_id } => ("pass", reason, None, audit_id, 0),
            Self::Ask { reason, audit_id } => ("ask", reason, None, audit_id, UNDECIDED),
            Self::Refuse { reason, audit_id } => ("deny", reason, None, audit_id, DENIED),
        };
        let mut output = json!({ "decision": decision, "reason": line(reason), "audit_id": audit_id });
        if let (Some(command), Some(output)) = (changed, output.as_object_mut()) {
            output.insert("command".to_owned(), json!(command));
        }
        let stderr = if code == 0 { String::new() } else { reason_line(reason) };
        Written { stderr, code, ..document(&output) }
    }
}

/// Makes the answer that stops every client.
pub(super) fn stop(reason: &str) -> Written {
    Written { stdout: String::new(), stderr: reason_line(reason), code: STOP }
}

fn quiet() -> Written {
    Written { stdout: String::new(), stderr: String::new(), code: 0 }
}

fn document(value: &Value) -> Written {
    Written { stdout: format!("{value}\n"), stderr: String::new(), code: 0 }
}

fn reason_line(reason: &str) -> String {
    format!("ghost: {}\n", line(reason))
}

/// Makes one line of a reason that holds nothing invisible.
fn line(reason: &str) -> String {
    const MAX_CHARS: usize = 2_000;
    let joined = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = visible(&joined).chars().take(MAX_CHARS).collect();
    if shown.is_empty() { "no".to_owned() } else { shown }
}

fn with_command(input: &Map<String, Value>, command: &str) -> Value {
    let mut input = input.clone();
    input.insert("command".to_owned(), json!(command));
    Value::Object(input)
}

impl Written {
    /// Sends the answer, and returns the exit code. What cannot be sent stops the call as far as anything can.
    pub(super) fn send(&self, out: &mut impl Write, errors: &mut impl Write) -> u8 {
        let sent = write(out, &self.stdout).is_ok() && write(errors, &self.stderr).is_ok();
        if sent {
            return self.code;
        }
        // Codex goes on where exit code 2 comes without a line; the old form of a denial stops both clients.
        let denied = json!({ "decision": "block", "reason": "ghost: the answer could not be written" });
        let is_said = write(errors, "ghost: the answer could not be written\n").is_ok();
        if !is_said && self.stdout.is_empty() && write(out, &format!("{denied}\n")).is_ok() {
            return 0;
        }
        STOP
    }
}

fn write(to: &mut impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Answer> {
        let (reason, audit_id) = ("why".to_owned(), "s-0001".to_owned());
        vec![
            Answer::Allow { reason: reason.clone(), changed: None, audit_id: audit_id.clone() },
            Answer::Allow {
                reason: reason.clone(),
                changed: Some("ls".to_owned()),
                audit_id: audit_id.clone(),
            },
            Answer::Pass { reason: reason.clone(), audit_id: audit_id.clone() },
            Answer::Ask { reason: reason.clone(), audit_id: audit_id.clone() },
            Answer::Refuse { reason, audit_id },
        ]
    }

    fn input() -> Map<String, Value> {
        json!({"command": "reboot", "description": "x"}).as_object().unwrap().clone()
    }

    #[track_caller]
    fn check(client: Client, event: HookEvent, expected: &[(u8, &str, &str)]) {
        for (answer, (code, stdout, stderr)) in all().iter().zip(expected) {
            let written = answer.written(client, event, &input());
            let got = (written.code, written.stdout.trim_end(), written.stderr.trim_end());
            assert_eq!(got, (*code, *stdout, *stderr), "{answer:?}");
        }
        assert_eq!(all().len(), expected.len());
    }

    #[test]
    fn claude_is_answered_with_its_own_words_and_stopped_with_exit_code_2() {
        check(
            Client::Claude,
            HookEvent::PreToolUse,
            &[
                (
                    0,
                    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"why"}}"#,
                    "",
                ),
                (
                    0,
                    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"why","updatedInput":{"command":"ls","description":"x"}}}"#,
                    "",
                ),
                (0, "", ""),
                (
                    0,
                    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}}"#,
                    "",
                ),
                (2, "", "ghost: why"),
            ],
        );
        check(
            Client::Claude,
            HookEvent::PermissionRequest,
            &[
                (
                    0,
                    r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}"#,
                    "",
                ),
                (
                    0,
                    r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"command":"ls","description":"x"}},"hookEventName":"PermissionRequest"}}"#,
                    "",
                ),
                (0, "", ""),
                (0, "", ""),
                (
                    0,
                    r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"why"},"hookEventName":"PermissionRequest"}}"#,
                    "",
                ),
            ],
        );
    }

    #[test]
    fn codex_is_never_asked_to_ask_and_never_stopped_by_a_document() {
        check(
            Client::Codex,
            HookEvent::PreToolUse,
            &[
                (0, "", ""),
                (
                    0,
                    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"why","updatedInput":{"command":"ls"}}}"#,
                    "",
                ),
                (0, "", ""),
                (2, "", "ghost: why"),
                (2, "", "ghost: why"),
            ],
        );
        let changed = "ghost: it was approved as another command; propose exactly this one: ls";
        check(
            Client::Codex,
            HookEvent::PermissionRequest,
            &[
                (
                    0,
                    r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}"#,
                    "",
                ),
                (2, "", changed),
                (0, "", ""),
                (0, "", ""),
                (2, "", "ghost: why"),
            ],
        );
    }

    #[test]
    fn a_script_reads_the_exit_code_alone() {
        check(
            Client::Generic,
            HookEvent::PreToolUse,
            &[
                (0, r#"{"audit_id":"s-0001","decision":"allow","reason":"why"}"#, ""),
                (0, r#"{"audit_id":"s-0001","command":"ls","decision":"allow","reason":"why"}"#, ""),
                (0, r#"{"audit_id":"s-0001","decision":"pass","reason":"why"}"#, ""),
                (4, r#"{"audit_id":"s-0001","decision":"ask","reason":"why"}"#, "ghost: why"),
                (3, r#"{"audit_id":"s-0001","decision":"deny","reason":"why"}"#, "ghost: why"),
            ],
        );
    }

    #[test]
    fn a_refusal_is_one_visible_line_and_never_empty() {
        for reason in ["", " \n", "a\nb\u{202e}c", "x\u{1b}[2J"] {
            let text = stop(reason).stderr;
            assert_eq!(text.matches('\n').count(), 1, "{text:?}");
            assert!(text.len() > "ghost: \n".len() && !text.contains(['\u{202e}', '\u{1b}']), "{text:?}");
        }
    }

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_written_is_no_consent() {
        let allow = all().remove(0).written(Client::Claude, HookEvent::PreToolUse, &input());
        let mut errors = Vec::new();
        assert_eq!(allow.send(&mut Closed, &mut errors), STOP);
        assert!(!errors.is_empty());
        let mut out = Vec::new();
        assert_eq!(stop("why").send(&mut out, &mut Closed), 0);
        assert!(String::from_utf8(out).unwrap().contains(r#""decision":"block""#));
    }
}
