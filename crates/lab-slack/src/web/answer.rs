//! Answers in the form of the Web API.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::state::SlackError;

/// An answer of a method, whether it says yes or no.
pub(crate) fn answer(body: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
    (kind, [(header::CACHE_CONTROL, "no-store")], body.to_string()).into_response()
}

/// A refusal of a method, which is an answer too.
pub(crate) fn refusal(error: &SlackError) -> Response {
    answer(&error.body())
}

/// The refusal of a call that came too early.
pub(crate) fn too_many(seconds: u64) -> Response {
    let mut response = refusal(&SlackError::new("ratelimited"));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Adds a warning to an answer that says yes, beside those that are there.
pub(crate) fn warn(body: &mut Value, warning: &str) {
    if body.get("ok") != Some(&Value::Bool(true)) {
        return;
    }
    let Some(map) = body.as_object_mut() else { return };
    let before = map.get("warning").and_then(Value::as_str).map(|before| format!("{before},{warning}"));
    map.insert("warning".to_owned(), json!(before.unwrap_or_else(|| warning.to_owned())));
    let metadata = map.entry("response_metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        let warnings = metadata.entry("warnings").or_insert_with(|| json!([]));
        if let Some(list) = warnings.as_array_mut() {
            list.push(json!(warning));
        }
    }
}
