//! How a command fails, as the real one tells it.

use serde_json::Value;

/// What is printed on standard error, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: u8,
    /// Standard error, without the line end.
    pub text: String,
}

impl Failure {
    /// A failure with its whole text.
    pub(super) fn new(exit: u8, text: impl Into<String>) -> Self {
        Self { exit, text: text.into() }
    }

    /// An option that has to be there.
    pub(super) fn required(names: &str) -> Self {
        Self::new(2, format!("ERROR: the following arguments are required: {names}"))
    }

    /// A command that is not known.
    pub(super) fn unknown(word: &str) -> Self {
        let text = format!(
            "ERROR: '{word}' is misspelled or not recognized by the system.\n\nhttps://aka.ms/cli_ref\nRead more about the command in reference docs"
        );
        Self::new(2, text)
    }

    /// A refusal of the service.
    pub(super) fn service(status: u16, body: &Value) -> Self {
        let exit = if status == 404 { 3 } else { 1 };
        let error = body.get("error").unwrap_or(body);
        let word = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
        let (code, message) = (word("code"), word("message"));
        let mut text = format!("ERROR: ({code}) {message}\nCode: {code}\nMessage: {message}");
        let details = error.get("details").and_then(Value::as_array).filter(|details| !details.is_empty());
        if let Some(details) = details {
            text.push_str("\nException Details:");
            for detail in details {
                let word = |field: &str| detail.get(field).and_then(Value::as_str).unwrap_or_default();
                let (code, message) = (word("code"), word("message"));
                text.push_str(&format!("\t({code}) {message}\n\tCode: {code}\n\tMessage: {message}"));
            }
        }
        Self::new(exit, text)
    }
}
