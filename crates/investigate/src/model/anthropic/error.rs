//! What an error of the Messages API means.

use serde_json::Value;

use crate::model::wire::Class;

/// What stands in the message of an error where the conversation is too long. There is no type for it.
const TOO_LONG: [&str; 2] = ["prompt is too long", "exceed context limit"];

/// What stands in it where there is nothing left to spend.
const SPENT: [&str; 2] = ["usage limits", "credit balance"];

/// Reads the type of an error, nothing where the status has to decide.
pub(super) fn classify(_status: u16, body: &Value) -> Option<Class> {
    let error = body.get("error")?;
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let says = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    match error.get("type")?.as_str()? {
        "authentication_error" | "permission_error" | "billing_error" => Some(Class::Unauthorized),
        "invalid_request_error" if says(&TOO_LONG) => Some(Class::TooLong),
        "invalid_request_error" if says(&SPENT) => Some(Class::Unauthorized),
        "invalid_request_error" | "not_found_error" => Some(Class::Rejected),
        "request_too_large" => Some(Class::TooLong),
        // The limit of a month resembles the limit of a minute, but no pause ends it.
        "rate_limit_error" if code(error) == Some("enforced_spend_limit_reached") => {
            Some(Class::Unauthorized)
        }
        "rate_limit_error" => Some(Class::RateLimited),
        "api_error" | "overloaded_error" | "timeout_error" => Some(Class::Unavailable),
        _ => None,
    }
}

fn code(error: &Value) -> Option<&str> {
    error.get("details")?.get("error_code")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: &str, message: &str, expected: Option<Class>) {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        assert_eq!(classify(400, &body), expected, "{kind}: {message}");
    }

    #[test]
    fn every_documented_type_has_a_class() {
        check("invalid_request_error", "max_tokens: Field required", Some(Class::Rejected));
        check("authentication_error", "invalid x-api-key", Some(Class::Unauthorized));
        check("billing_error", "x", Some(Class::Unauthorized));
        check("permission_error", "x", Some(Class::Unauthorized));
        check("not_found_error", "model: x", Some(Class::Rejected));
        check("request_too_large", "x", Some(Class::TooLong));
        check("rate_limit_error", "x", Some(Class::RateLimited));
        check("api_error", "x", Some(Class::Unavailable));
        check("timeout_error", "x", Some(Class::Unavailable));
        check("overloaded_error", "x", Some(Class::Unavailable));
    }

    #[test]
    fn a_request_that_is_too_long_is_recognized_by_its_words() {
        check(
            "invalid_request_error",
            "prompt is too long: 215432 tokens > 200000 maximum",
            Some(Class::TooLong),
        );
        let sum = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000";
        check("invalid_request_error", sum, Some(Class::TooLong));
    }

    #[test]
    fn money_that_is_spent_does_not_come_back_by_asking() {
        let limit = "You have reached your specified API usage limits.";
        check("invalid_request_error", limit, Some(Class::Unauthorized));
        let details = json!({"error_code": "enforced_spend_limit_reached"});
        let error = json!({"error": {"type": "rate_limit_error", "message": "x", "details": details}});
        assert_eq!(classify(429, &error), Some(Class::Unauthorized));
    }

    #[test]
    fn a_type_of_the_future_leaves_it_to_the_status() {
        check("teapot_error", "x", None);
        for body in [json!(null), json!({"error": "x"}), json!({"error": {"type": 7}}), json!([])] {
            assert_eq!(classify(500, &body), None);
        }
    }
}
