//! What is made to go wrong: the next requests of a kind are answered otherwise.

use regex::Regex;
use serde_json::Value;

use super::request::{Answer, Body, Request};

/// A spoiled answer, and for how many requests of which kind.
#[derive(Debug, Clone)]
pub struct Fault {
    /// What requests it meets: a pattern over `METHOD path?query`.
    pub pattern: Regex,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// How many requests are left that it meets.
    pub times: u64,
}

/// All that is to go wrong, the earliest first.
#[derive(Debug, Clone, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    pub fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Answers a request that one of them meets.
    pub(super) fn hit(&mut self, request: &Request) -> Option<Answer> {
        let query: Vec<String> =
            request.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let line = format!("{} {}?{}", request.verb.name(), request.path, query.join("&"));
        let fault = self.0.iter_mut().find(|fault| fault.times > 0 && fault.pattern.is_match(&line))?;
        fault.times -= 1;
        Some(Answer { status: fault.status, headers: fault.headers.clone(), body: fault.body.clone() })
    }
}

impl Fault {
    /// Returns a body from a document: a text is kept as it is.
    #[must_use]
    pub fn body(document: &Value) -> Body {
        match document.as_str() {
            Some(text) => Body::Text("text/html", text.to_owned()),
            None if document.is_null() => Body::Empty,
            None => Body::Json(document.clone()),
        }
    }
}
