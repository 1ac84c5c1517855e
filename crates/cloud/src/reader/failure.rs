//! How a read fails, in the words of `az`: whoever reads them goes by codes, exit codes and beginnings.

use serde_json::Value;

/// What is printed on standard error, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) exit: i32,
    pub(super) text: String,
}

impl Failure {
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self { exit: 1, text: format!("ERROR: {}\n", text.as_ref()) }
    }

    /// The subscription is not one of those that the identity sees.
    pub(super) fn no_subscription(name: &str) -> Self {
        Self::new(format!("Subscription '{name}' not found. Check the spelling and casing and try again."))
    }

    /// Nobody answers.
    pub(super) fn unreachable(host: &str, why: &str) -> Self {
        Self::new(format!("HTTPSConnection(host='{host}'): Failed to establish a new connection: {why}"))
    }

    /// There is no token. The reason holds no secret.
    pub(super) fn token(why: impl AsRef<str>) -> Self {
        Self::new(format!("Signing in failed: {}", why.as_ref()))
    }

    /// An answer that is not what it has to be.
    pub(super) fn unreadable(what: impl AsRef<str>) -> Self {
        Self::new(format!("JSON is invalid: {}", what.as_ref()))
    }

    /// A refusal of the service.
    pub(super) fn refused(status: u16, body: &[u8]) -> Self {
        let exit = if status == 404 { 3 } else { 1 };
        let document: Option<Value> = serde_json::from_slice(body).ok();
        let coded = document.filter(|found| found.get("error").unwrap_or(found).get("code").is_some());
        match coded {
            Some(document) => Self { exit, ..Self::of_document(&document) },
            None => {
                let known =
                    reqwest::StatusCode::from_u16(status).ok().and_then(|known| known.canonical_reason());
                let phrase = known.map_or_else(|| status.to_string(), str::to_owned);
                Self { exit, ..Self::new(format!("Operation returned an invalid status '{phrase}'")) }
            }
        }
    }

    /// A document that says what went wrong.
    pub(super) fn of_document(document: &Value) -> Self {
        let error = document.get("error").unwrap_or(document);
        let word =
            |of: &Value, field: &str| of.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (code, message) = (word(error, "code"), word(error, "message"));
        let mut text = format!("({code}) {message}\nCode: {code}\nMessage: {message}");
        if let Some(target) = error.get("target").and_then(Value::as_str) {
            text.push_str(&format!("\nTarget: {target}"));
        }
        for (at, detail) in error.get("details").and_then(Value::as_array).into_iter().flatten().enumerate() {
            let (code, message) = (word(detail, "code"), word(detail, "message"));
            let head = if at == 0 { "\nException Details:\t" } else { "\n\t" };
            text.push_str(&format!("{head}({code}) {message}\n\tCode: {code}\n\tMessage: {message}"));
        }
        Self::new(text)
    }
}
