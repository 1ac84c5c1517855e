//! Reading and answering the calls of a person.

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::state::{Args, SlackError};

/// Reads the object of a call. A form of another page cannot send this type without being asked for leave first.
pub(crate) fn object(headers: &HeaderMap, body: &Bytes) -> Result<Args, SlackError> {
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.trim().to_ascii_lowercase().starts_with("application/json") {
        return Err(SlackError::new("invalid_post_type"));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(map)) => Ok(Args(map)),
        Ok(_) => Err(SlackError::new("json_not_object")),
        Err(_) => Err(SlackError::new("invalid_json")),
    }
}

/// Answers, a refusal as 400.
pub(crate) fn reply(done: Result<Value, SlackError>) -> Response {
    match done {
        Ok(body) => Json(body).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, Json(error.body())).into_response(),
    }
}

/// Answers what the app had its say in: a refusal is an answer like any other.
pub(crate) fn said(done: Result<Value, SlackError>) -> Response {
    Json(done.unwrap_or_else(|error| error.body())).into_response()
}

/// The answer that everything went well.
pub(crate) fn well() -> Value {
    json!({"ok": true})
}
