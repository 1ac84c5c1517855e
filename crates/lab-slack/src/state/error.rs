//! Why Slack would not do it.

use serde_json::{Map, Value, json};

use crate::block::Refusal;

/// A refusal in Slack's words: a code, and what else stands beside it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SlackError {
    code: String,
    beside: Map<String, Value>,
}

impl SlackError {
    /// Makes a refusal from its code.
    pub(crate) fn new(code: &str) -> Self {
        Self { code: code.to_owned(), beside: Map::new() }
    }

    /// Makes the refusal of arguments, with the reasons that Slack lists.
    pub(crate) fn arguments(messages: impl IntoIterator<Item = String>) -> Self {
        Self::new("invalid_arguments").messages(messages)
    }

    /// Makes the refusal of an argument that is not there.
    pub(crate) fn missing(name: &str) -> Self {
        Self::arguments([format!("[ERROR] missing required field: {name}")])
    }

    /// Adds a field beside the code.
    pub(crate) fn beside(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.beside.insert(name.to_owned(), value.into());
        self
    }

    /// Adds the reasons, where Slack puts them.
    pub(crate) fn messages(self, messages: impl IntoIterator<Item = String>) -> Self {
        let messages: Vec<String> = messages.into_iter().collect();
        self.beside("response_metadata", json!({ "messages": messages }))
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Returns the answer as it travels.
    pub(crate) fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("ok".to_owned(), false.into());
        body.insert("error".to_owned(), self.code.clone().into());
        body.extend(self.beside.clone());
        Value::Object(body)
    }
}

impl From<Refusal> for SlackError {
    /// Converts the problems that the block check found.
    fn from(refusal: Refusal) -> Self {
        let mut error = Self::new(refusal.error);
        if let Value::Object(body) = refusal.to_json() {
            error.beside = body.into_iter().filter(|(name, _)| name != "ok" && name != "error").collect();
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_form_that_every_client_reads() {
        let body = SlackError::missing("channel").body();
        assert_eq!(
            body,
            json!({"ok": false, "error": "invalid_arguments",
                "response_metadata": {"messages": ["[ERROR] missing required field: channel"]}})
        );
    }
}
