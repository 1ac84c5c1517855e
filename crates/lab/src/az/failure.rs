//! How a command fails, as the real one tells it.

use serde_json::Value;

use crate::azure::{Answer, Body};

/// What is printed on standard error, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: u8,
    /// Standard error, without the last line end.
    pub text: String,
}

impl Failure {
    /// A failure with its whole text after the word `ERROR`.
    pub(super) fn new(exit: u8, text: impl AsRef<str>) -> Self {
        Self { exit, text: format!("ERROR: {}", text.as_ref()) }
    }

    /// A line that cannot be read.
    pub(super) fn usage(text: impl AsRef<str>) -> Self {
        const MORE: &str = "https://aka.ms/cli_ref\nRead more about the command in reference docs";
        Self::new(2, format!("{}\n\n{MORE}", text.as_ref()))
    }

    /// A word that is none of those that an option knows.
    pub(super) fn choice(command: &str, option: &str, word: &str, known: &[&str]) -> Self {
        let known = known.join(", ");
        Self::usage(format!(
            "az {command}: '{word}' is not a valid value for '{option}'. Allowed values: {known}."
        ))
    }

    /// Whoever asks is not signed in.
    pub(super) fn stranger() -> Self {
        Self::new(1, "Please run 'az login' to setup account.")
    }

    /// No token can be had.
    pub(super) fn token(why: impl AsRef<str>) -> Self {
        const ADVICE: &str = "Run the command below to authenticate interactively; additional arguments may be added as needed:\naz logout\naz login";
        Self::new(1, format!("{}\n{ADVICE}", why.as_ref()))
    }

    /// Something that only a broken service says.
    pub(super) fn unexpected(why: impl AsRef<str>) -> Self {
        Self::new(
            1,
            format!(
                "The command failed with an unexpected error. Here is the traceback:\nERROR: {}",
                why.as_ref()
            ),
        )
    }

    /// A refusal of the service.
    pub(super) fn service(answer: &Answer) -> Self {
        let exit = if answer.status == 404 { 3 } else { 1 };
        match &answer.body {
            Body::Json(answer) if answer.get("error").unwrap_or(answer).get("code").is_some() => {
                Self::from_answer(exit, answer)
            }
            Body::Json(_) | Body::Text(..) | Body::Empty | Body::Bytes(_) => {
                Self::new(exit, format!("Operation returned an invalid status '{}'", phrase(answer.status)))
            }
        }
    }

    /// An error document.
    pub(super) fn from_answer(exit: u8, answer: &Value) -> Self {
        let error = answer.get("error").unwrap_or(answer);
        let word =
            |of: &Value, field: &str| of.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (code, message) = (word(error, "code"), word(error, "message"));
        let mut text = format!("({code}) {message}\nCode: {code}\nMessage: {message}");
        if let Some(target) = error.get("target").and_then(Value::as_str) {
            text.push_str(&format!("\nTarget: {target}"));
        }
        let details = error.get("details").and_then(Value::as_array);
        for (at, detail) in details.into_iter().flatten().enumerate() {
            let (code, message) = (word(detail, "code"), word(detail, "message"));
            let head = if at == 0 { "\nException Details:\t" } else { "\n\t" };
            text.push_str(&format!("{head}({code}) {message}\n\tCode: {code}\n\tMessage: {message}"));
        }
        Self::new(exit, text)
    }
}

/// Returns the words of a status.
pub(super) fn phrase(status: u16) -> String {
    let known = reqwest::StatusCode::from_u16(status).ok().and_then(|known| known.canonical_reason());
    known.map_or_else(|| status.to_string(), str::to_owned)
}
