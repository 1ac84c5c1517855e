//! What the resource manager says where it does not do what was asked.

use serde_json::{Value, json};

use super::request::Answer;

/// A refusal, in the platform's words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    status: u16,
    code: String,
    message: String,
    /// What has to be shown for the answer to be another one.
    challenge: Option<String>,
    /// Details; left out where the platform leaves them out.
    details: Option<Vec<Value>>,
}

impl Refusal {
    /// Refuses with a status, a code and a message.
    pub(super) fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self { status, code: code.to_owned(), message: message.into(), challenge: None, details: None }
    }

    /// The network provider has a list of details in each of its refusals.
    pub(super) fn network(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self { details: Some(Vec::new()), ..Self::new(status, code, message) }
    }

    /// Adds a detail.
    pub(super) fn detail(mut self, code: &str, message: impl Into<String>) -> Self {
        let detail = json!({"code": code, "message": message.into()});
        self.details.get_or_insert_default().push(detail);
        self
    }

    /// Adds a challenge.
    pub(super) fn challenging(self, challenge: String) -> Self {
        Self { challenge: Some(challenge), ..self }
    }

    /// A resource that is not there.
    pub(super) fn missing(kind: &str, name: &str, group: &str) -> Self {
        let message = format!(
            "The Resource '{kind}/{name}' under resource group '{group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"
        );
        Self::new(404, "ResourceNotFound", message)
    }

    /// A resource group that is not there.
    pub(super) fn no_group(group: &str) -> Self {
        Self::new(404, "ResourceGroupNotFound", format!("Resource group '{group}' could not be found."))
    }

    /// Something below a resource that is not there; the platform writes its name in capital letters.
    pub(super) fn no_child(id: &str) -> Self {
        Self::network(404, "NotFound", format!("Resource {} not found.", id.to_ascii_uppercase()))
    }

    /// A body that nobody can read.
    pub(super) fn unreadable(why: &str) -> Self {
        Self::new(
            400,
            "InvalidRequestContent",
            format!("The request content was invalid and could not be deserialized: '{why}'."),
        )
    }

    /// Returns the error as operations tell it.
    pub(super) fn error(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(details), Some(map)) = (&self.details, error.as_object_mut()) {
            map.insert("details".to_owned(), json!(details));
        }
        error
    }

    pub(super) fn answer(&self) -> Answer {
        let answer = Answer::json(self.status, json!({"error": self.error()}));
        match &self.challenge {
            Some(challenge) => answer.with("WWW-Authenticate", challenge),
            None => answer,
        }
    }
}
