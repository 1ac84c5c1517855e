//! A request that is ready, and what came of it.

use serde_json::Value;

/// What would be sent. The token is not part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Who gets it.
    pub service: &'static str,
    /// What it should be written into, in words.
    pub into: String,
    pub url: String,
    /// What stands before the token in its header.
    pub(super) scheme: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub body: Value,
    /// Where the answer says what was written.
    pub(super) place: &'static str,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Where it is: an address, or the name that the service gave it.
    pub place: String,
}

impl Prepared {
    /// Shows the request as it would be sent, without its token.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut lines =
            vec![format!("POST {}", self.url), format!("Authorization: {} [secret]", self.scheme)];
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        lines.push("Content-Type: application/json".to_owned());
        lines.push(String::new());
        lines.push(format!("{:#}", self.body));
        lines.join("\n")
    }
}
