//! A request as it arrives, and what it is answered with.

use std::collections::BTreeMap;

use serde_json::Value;

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Reads without a body.
    Head,
    /// Replaces.
    Put,
    /// Changes in part.
    Patch,
    /// Asks for something to be done.
    Post,
    /// Removes.
    Delete,
}

impl Verb {
    /// Returns the verb of a name in capital letters.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "POST" => Self::Post,
            "DELETE" => Self::Delete,
            _ => return None,
        })
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Request {
    pub verb: Verb,
    /// Scheme and authority as the client sees them: links in answers begin with it.
    pub base: String,
    /// The path as it was sent, still escaped.
    pub path: String,
    /// The query, decoded, in the order in which it was sent.
    pub query: Vec<(String, String)>,
    /// Headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// Returns a parameter of the query; names are compared without case.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What an answer holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Nothing.
    Empty,
    /// A document.
    Json(Value),
    /// Text of some type.
    Text(&'static str, String),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// Headers beside those that follow from the body.
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

impl Answer {
    /// Answers with a document.
    #[must_use]
    pub fn json(status: u16, document: Value) -> Self {
        Self { status, headers: Vec::new(), body: Body::Json(document) }
    }

    /// Answers without a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Body::Empty }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}
