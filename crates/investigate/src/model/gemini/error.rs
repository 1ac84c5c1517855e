//! What Gemini's errors mean.

use serde_json::Value;

use crate::model::ModelError;
use crate::model::wire::Class;

/// Reads an error; nothing where its status alone decides.
pub(super) fn classify(_status: u16, body: &Value) -> Option<Class> {
    let error = find(body)?;
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    // A wrong key is an invalid argument to Gemini.
    if reasons(error).any(|reason| reason == "API_KEY_INVALID") || message.contains("api key not valid") {
        return Some(Class::Unauthorized);
    }
    match error.get("status")?.as_str()? {
        "RESOURCE_EXHAUSTED" => Some(Class::RateLimited),
        "UNAVAILABLE" | "INTERNAL" | "DEADLINE_EXCEEDED" | "ABORTED" | "CANCELLED" => {
            Some(Class::Unavailable)
        }
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => Some(Class::Unauthorized),
        "INVALID_ARGUMENT" if message.contains("token count") && message.contains("exceeds") => {
            Some(Class::TooLong)
        }
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "NOT_FOUND" | "OUT_OF_RANGE" | "UNIMPLEMENTED" => {
            Some(Class::Rejected)
        }
        _ => None,
    }
}

/// Finds the error in a body or in an event; some come in a list of one.
pub(super) fn find(body: &Value) -> Option<&Value> {
    body.get(0).unwrap_or(body).get("error").filter(|error| !error.is_null())
}

/// Returns the status that an error in the middle of a stream would have had at its beginning.
pub(super) fn status(error: &Value) -> u16 {
    let code = error.get("code").and_then(Value::as_u64);
    code.and_then(|code| u16::try_from(code).ok()).unwrap_or(500)
}

fn reasons(error: &Value) -> impl Iterator<Item = &str> {
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    details.filter_map(|detail| detail.get("reason")?.as_str())
}

/// Tells whether signed thoughts are what an error is about.
pub(super) fn distrusts(error: &ModelError) -> bool {
    let ModelError::Rejected { what, .. } = error else {
        return false;
    };
    let what = what.to_ascii_lowercase();
    what.contains("thought signature") || what.contains("thought_signature")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(code: u16, status: &str, message: &str, expected: Option<Class>) {
        let body = json!({ "error": { "code": code, "status": status, "message": message } });
        assert_eq!(classify(code, &body), expected);
        assert_eq!(classify(code, &json!([body])), expected);
    }

    #[test]
    fn an_error_has_the_class_of_its_status() {
        check(429, "RESOURCE_EXHAUSTED", "", Some(Class::RateLimited));
        check(503, "UNAVAILABLE", "The model is overloaded.", Some(Class::Unavailable));
        check(403, "PERMISSION_DENIED", "", Some(Class::Unauthorized));
        check(400, "INVALID_ARGUMENT", "Unknown name \"x\"", Some(Class::Rejected));
        check(418, "NEW_STATUS", "", None);
    }

    #[test]
    fn a_wrong_key_and_a_long_conversation_are_distinguished_from_a_wrong_request() {
        let long = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
        check(400, "INVALID_ARGUMENT", long, Some(Class::TooLong));
        let key = "API key not valid. Please pass a valid API key.";
        check(400, "INVALID_ARGUMENT", key, Some(Class::Unauthorized));
        let details = json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "m",
            "details": [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID" }] } });
        assert_eq!(classify(400, &details), Some(Class::Unauthorized));
    }

    #[test]
    fn what_is_no_error_of_gemini_is_left_to_the_status() {
        for body in [json!(null), json!("x"), json!([]), json!({ "error": null }), json!({ "error": "x" })] {
            assert_eq!(classify(502, &body), None);
        }
    }
}
