//! What a guest printed.
//!
//! What ssh says where it does not get there.

use serde_json::Value;

use super::access::GuestAccess;
use crate::{Failure, FailureClass};

/// Why a guest's output is not reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrintedError {
    /// The answer is not one of run-command.
    #[error("the platform's answer cannot be read: {0}")]
    Answer(&'static str),
    /// The platform could not run it.
    #[error("the platform could not run it: {0}")]
    Failed(String),
}

const OUT: &str = "[stdout]\n";
const ERR: &str = "\n[stderr]\n";

/// Returns what a script printed on standard output: over ssh all of it, by run-command the last 4,096 bytes.
///
/// # Errors
/// Fails where the answer of run-command is none, or says that nothing ran.
pub fn printed(reach: &GuestAccess, answer: &str) -> Result<String, PrintedError> {
    match reach {
        GuestAccess::Ssh(_) => Ok(answer.to_owned()),
        GuestAccess::Platform { .. } => by_platform(answer),
    }
}

fn by_platform(answer: &str) -> Result<String, PrintedError> {
    let document: Value =
        serde_json::from_str(answer).map_err(|_| PrintedError::Answer("it is no whole document"))?;
    let status = document
        .get("value")
        .and_then(Value::as_array)
        .and_then(|all| all.first())
        .ok_or(PrintedError::Answer("it has no status"))?;
    let text = |name: &str| status.get(name).and_then(Value::as_str);
    let message = text("message").ok_or(PrintedError::Answer("its status has no message"))?;
    if !text("code").is_some_and(|code| code.ends_with("/succeeded")) {
        return Err(PrintedError::Failed(message.chars().take(300).collect()));
    }
    let (_, framed) = message.split_once(OUT).ok_or(PrintedError::Answer("its message has no [stdout]"))?;
    // A script can print the mark, too; the platform's own is the last one.
    let (stdout, _) = framed.rsplit_once(ERR).ok_or(PrintedError::Answer("its message has no [stderr]"))?;
    Ok(stdout.to_owned())
}

/// Words of ssh and of sudo, and what they mean; the first that is there.
const WORDS: &[(&str, FailureClass)] = &[
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", FailureClass::Stranger),
    ("Host key verification failed", FailureClass::Stranger),
    ("Permission denied (", FailureClass::Unwelcome),
    ("Too many authentication failures", FailureClass::Unwelcome),
    ("sudo: ", FailureClass::NoRoot),
    ("Could not resolve hostname", FailureClass::Unreachable),
    ("Connection refused", FailureClass::Unreachable),
    ("Connection timed out", FailureClass::Unreachable),
    ("No route to host", FailureClass::Unreachable),
    ("Network is unreachable", FailureClass::Unreachable),
    ("stdio forwarding failed", FailureClass::Unreachable),
    ("kex_exchange_identification: ", FailureClass::SignInsFull),
    ("Connection closed by", FailureClass::Unreachable),
    ("Connection reset by", FailureClass::Unreachable),
    ("Timeout, server", FailureClass::Unreachable),
];

/// Says what it means that ssh ended with 255, its own code for a failure, or that sudo gave up; `None` where it is neither.
pub(crate) fn refused(exit: Option<i32>, stderr: &str) -> Option<Failure> {
    let sudo = exit == Some(1) && stderr.trim_start().starts_with("sudo: ");
    if exit != Some(255) && !sudo {
        return None;
    }
    let found = WORDS.iter().find(|(words, _)| stderr.contains(words));
    let class = found.map_or(FailureClass::Unreachable, |(_, class)| *class);
    // A changed key is reported in a frame of many lines, of which the first says nothing.
    let line = found.and_then(|(words, _)| stderr.lines().find(|line| line.contains(words)));
    let line = line.or_else(|| stderr.lines().find(|line| !line.trim().is_empty()));
    let message = line.unwrap_or("ssh failed and said nothing").trim_matches(['@', ' ']);
    Some(Failure { class, code: None, message: message.chars().take(300).collect() })
}

#[cfg(test)]
mod printed_tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(code: &str, message: &str) -> String {
        serde_json::json!({"value": [{"code": code, "message": message}]}).to_string()
    }

    #[test]
    fn the_frame_is_taken_off() {
        let text =
            answer("ProvisioningState/succeeded", "Enable succeeded: \n[stdout]\na\nb\n\n[stderr]\nodd");
        assert_eq!(by_platform(&text), Ok("a\nb\n".to_owned()));
        let empty = answer("ProvisioningState/succeeded", "Enable succeeded: \n[stdout]\n\n[stderr]\n");
        assert_eq!(by_platform(&empty), Ok(String::new()));
    }

    #[test]
    fn a_mark_that_the_script_prints_is_its_text() {
        let text = answer("ProvisioningState/succeeded", "x\n[stdout]\na\n[stderr]\nb\n[stderr]\n");
        assert_eq!(by_platform(&text), Ok("a\n[stderr]\nb".to_owned()));
    }

    #[test]
    fn what_is_no_answer_is_reported() {
        for text in [
            "",
            "null",
            "[]",
            "{\"value\": []}",
            "{\"value\": [{\"code\": 1}]}",
            "{\"value\": [{\"mess",
            &answer("ProvisioningState/succeeded", "nothing"),
            &answer("ProvisioningState/succeeded", "\n[stdout]\ncut"),
            &answer("ProvisioningState/failed", "Enable failed: \n[stdout]\na\n[stderr]\n"),
        ] {
            assert!(by_platform(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "\\PC{0,60}(\n\\[stdout\\]\n)?\\PC{0,9}(\n\\[stderr\\]\n)?") {
            drop(by_platform(&text));
            drop(by_platform(&answer("ProvisioningState/succeeded", &text)));
        }
    }
}

#[cfg(test)]
mod refused_tests {
    use super::*;

    #[test]
    fn what_ssh_says_has_a_class() {
        let class = |exit, text: &str| refused(Some(exit), text).map(|failure| failure.class);
        let changed = "@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@\nHost key verification failed.";
        assert_eq!(class(255, changed), Some(FailureClass::Stranger));
        assert_eq!(class(255, "u@h: Permission denied (publickey)."), Some(FailureClass::Unwelcome));
        assert_eq!(
            class(255, "ssh: connect to host h port 22: Connection refused"),
            Some(FailureClass::Unreachable)
        );
        let closed = "kex_exchange_identification: Connection closed by remote host\r\nConnection closed by 10.0.0.4 port 22\r\n";
        assert_eq!(class(255, closed), Some(FailureClass::SignInsFull));
        let jump = format!("u@jump: Permission denied (publickey).\r\n{closed}");
        assert_eq!(class(255, &jump), Some(FailureClass::Unwelcome));
        assert_eq!(class(255, ""), Some(FailureClass::Unreachable));
        assert_eq!(class(1, "sudo: a password is required"), Some(FailureClass::NoRoot));
        assert_eq!(class(1, "ERROR: (NotFound) x"), None);
        assert_eq!(class(3, "x"), None);
    }
}
