//! What the errors of OpenAI mean, and of those who speak its interfaces.

use serde_json::Value;

use crate::model::ModelError;
use crate::model::wire::{Class, Failed};

/// How servers say that a conversation is too long, where no code does.
const TOO_LONG: [&str; 6] = [
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
];

/// Reads an error; nothing where its status alone decides.
pub(super) fn classify(status: u16, body: &Value) -> Option<Class> {
    let error = find(body);
    let named = [word(error, "code"), word(error, "type")];
    let is = |names: &[&str]| named.iter().any(|name| names.contains(name));
    if is(&["context_length_exceeded", "exceed_context_size_error", "string_above_max_length"]) {
        return Some(Class::TooLong);
    }
    // A used up balance comes with the status of too many requests, but waiting does not fill it.
    if is(&["insufficient_quota", "billing_not_active", "billing_hard_limit_reached"]) {
        return Some(Class::Unauthorized);
    }
    if is(&["invalid_api_key", "authentication_error"]) {
        return Some(Class::Unauthorized);
    }
    // Moderation has the status of a key that may not.
    if status == 403 && error.get("metadata").is_some_and(|data| data.get("reasons").is_some()) {
        return Some(Class::Rejected);
    }
    let message = word(error, "message").to_ascii_lowercase();
    if matches!(status, 200 | 400 | 413 | 422 | 500) && TOO_LONG.iter().any(|words| message.contains(words)) {
        return Some(Class::TooLong);
    }
    if is(&["rate_limit_exceeded", "rate_limit_error"]) {
        return Some(Class::RateLimited);
    }
    if is(&["server_error", "overloaded_error", "engine_overloaded"]) {
        return Some(Class::Unavailable);
    }
    None
}

/// Returns the status that an error in the middle of a stream would have had at its beginning.
pub(super) fn status(error: &Value) -> u16 {
    let code = error.get("code");
    let number = code.and_then(Value::as_u64).or_else(|| code?.as_str()?.parse().ok());
    if let Some(status) = number.and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400) {
        return status;
    }
    let names = [word(error, "code"), word(error, "type")];
    match names {
        ["rate_limit_exceeded", _] | [_, "rate_limit_error"] => 429,
        ["invalid_api_key", _] | [_, "authentication_error"] => 401,
        [code, "invalid_request_error"] if code != "server_error" => 400,
        [code, _] if code.starts_with("invalid_") || code == "context_length_exceeded" => 400,
        [_, _] => 500,
    }
}

fn find(body: &Value) -> &Value {
    let body = body.get(0).unwrap_or(body);
    body.get("error").filter(|error| error.is_object()).unwrap_or(body)
}

fn word<'a>(error: &'a Value, key: &str) -> &'a str {
    error.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Takes what is left of a key out of an error: OpenAI repeats its beginning and its end, with stars in between.
pub(super) fn discreet(mut failed: Failed) -> Failed {
    if let ModelError::Unauthorized { what, .. } = &mut failed.error
        && what.contains("**")
    {
        let shown = |word| if str::contains(word, "**") { "[secret]" } else { word };
        *what = what.split(' ').map(shown).collect::<Vec<_>>().join(" ");
    }
    failed
}

/// Tells whether items that were handed back are what an error is about.
pub(super) fn distrusts(error: &ModelError) -> bool {
    let ModelError::Rejected { what, .. } = error else {
        return false;
    };
    let what = what.to_ascii_lowercase();
    ["encrypted content", "encrypted_content", "items are not persisted", "required following item"]
        .iter()
        .any(|words| what.contains(words))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(status: u16, error: Value, expected: Option<Class>) {
        assert_eq!(classify(status, &json!({ "error": error })), expected);
        assert_eq!(classify(status, &error), expected, "without an envelope, as vLLM and streams have it");
    }

    #[test]
    fn a_conversation_that_is_too_long_is_recognized() {
        let words = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
        check(400, json!({ "code": "context_length_exceeded", "message": words }), Some(Class::TooLong));
        check(400, json!({ "object": "error", "code": 400, "message": words }), Some(Class::TooLong));
        check(400, json!({ "type": "exceed_context_size_error" }), Some(Class::TooLong));
        check(429, json!({ "message": "mind the context length" }), None);
    }

    #[test]
    fn a_used_up_balance_is_no_matter_of_time() {
        check(
            429,
            json!({ "code": "insufficient_quota", "type": "insufficient_quota" }),
            Some(Class::Unauthorized),
        );
        check(429, json!({ "code": "rate_limit_exceeded", "type": "tokens" }), Some(Class::RateLimited));
    }

    #[test]
    fn moderation_is_no_matter_of_the_key() {
        check(403, json!({ "code": 403, "metadata": { "reasons": ["violence"] } }), Some(Class::Rejected));
        check(403, json!({ "code": 403, "message": "no access" }), None);
    }

    #[test]
    fn an_error_in_a_stream_gets_the_status_it_would_have_had() {
        let statuses = [
            (json!({ "code": 502 }), 502),
            (json!({ "code": "429" }), 429),
            (json!({ "code": "rate_limit_exceeded" }), 429),
            (json!({ "code": "server_error" }), 500),
            (json!({ "code": "invalid_prompt" }), 400),
            (json!({ "code": null, "type": "invalid_request_error" }), 400),
            (json!({ "message": "m" }), 500),
            (json!("x"), 500),
        ];
        for (error, expected) in statuses {
            assert_eq!(status(&error), expected, "{error}");
        }
    }

    #[test]
    fn what_is_no_error_of_openai_is_left_to_the_status() {
        for body in [json!(null), json!("x"), json!([]), json!({ "error": null }), json!({ "detail": [] })] {
            assert_eq!(classify(502, &body), None);
        }
    }
}
