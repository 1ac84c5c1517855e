//! Requests to a cloud, and what came back.

use std::collections::BTreeMap;

use ghost_lab::azure::{Answer, Body, Request, Verb};
use serde_json::Value;

/// Makes a request without a body.
pub(super) fn request(verb: Verb, path: &str) -> Request {
    Request {
        verb,
        base: String::new(),
        path: path.to_owned(),
        query: vec![("api-version".to_owned(), "2024-11-01".to_owned())],
        headers: BTreeMap::new(),
        body: Vec::new(),
    }
}

/// Makes an order without a body.
pub(super) fn post(path: &str) -> Request {
    request(Verb::Post, path)
}

/// Returns the document of an answer.
pub(super) fn document(answer: &Answer) -> Value {
    match &answer.body {
        Body::Json(document) => document.clone(),
        Body::Empty | Body::Text(..) | Body::Bytes(_) => Value::Null,
    }
}
