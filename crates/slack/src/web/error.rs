//! Why a call did not do what it was to do.

use std::time::Duration;

use serde_json::Value;
use slack_morphism::errors::SlackClientError;

/// Slack's own words are cut here.
const MAX_TEXT_LEN: usize = 300;

/// How long to wait where Slack says "too many" without saying how long.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why a call did not do what it was to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Too many calls; nothing was done.
    #[error("{method}: too many calls, again in {} s", retry_after.as_secs())]
    RateLimited {
        method: String,
        /// How long Slack wants to be left alone.
        retry_after: Duration,
    },
    /// Slack understood and said no; nothing was done.
    #[error("{method}: Slack refused with {code}{}", details(.messages))]
    Refused {
        method: String,
        /// Slack's word for it, `channel_not_found` for instance.
        code: String,
        /// What Slack says about it, which scope is missing for instance.
        messages: Vec<String>,
    },
    /// Slack could not be reached, or something in between broke; it may have been done.
    #[error("{method}: {what}")]
    Unreachable {
        method: String,
        /// What broke.
        what: String,
    },
    /// No answer came in time; it may have been done.
    #[error("{method}: no answer within {} s", after.as_secs())]
    Late {
        method: String,
        /// How long was waited.
        after: Duration,
    },
}

fn details(messages: &[String]) -> String {
    if messages.is_empty() { String::new() } else { format!(" ({})", messages.join("; ")) }
}

impl CallError {
    /// Returns Slack's word for a refusal.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::RateLimited { .. } | Self::Unreachable { .. } | Self::Late { .. } => None,
        }
    }

    /// Tells whether the token was refused: another one may be accepted.
    #[must_use]
    pub fn is_about_token(&self) -> bool {
        let words = ["invalid_auth", "token_expired", "token_revoked", "not_authed", "account_inactive"];
        self.code().is_some_and(|code| words.contains(&code))
    }

    /// Makes the error of a refusal without further words.
    pub(crate) fn refused(method: &str, code: &str) -> Self {
        Self::Refused { method: method.to_owned(), code: code.to_owned(), messages: Vec::new() }
    }

    /// Makes the error of an answer that is not as documented.
    pub(crate) fn odd(method: &str, what: &str) -> Self {
        Self::Unreachable { method: method.to_owned(), what: format!("the answer has no {what}") }
    }

    /// Translates what the client below tells. Its own words repeat whole bodies, which may quote what we sent.
    pub(crate) fn of(method: &str, error: SlackClientError) -> Self {
        let unreachable = |what: String| Self::Unreachable { method: method.to_owned(), what };
        match error {
            SlackClientError::RateLimitError(limit) => Self::RateLimited {
                method: method.to_owned(),
                retry_after: limit.retry_after.unwrap_or(DEFAULT_RETRY_AFTER).max(DEFAULT_RETRY_AFTER),
            },
            SlackClientError::ApiError(refusal)
                if refusal.code == "ratelimited" || refusal.code == "rate_limited" =>
            {
                Self::RateLimited { method: method.to_owned(), retry_after: DEFAULT_RETRY_AFTER }
            }
            SlackClientError::ApiError(refusal) => {
                let body = refusal.http_response_body.as_deref().unwrap_or_default();
                let body = serde_json::from_str(body).unwrap_or(Value::Null);
                let mut messages = messages(&body);
                for word in refusal.errors.unwrap_or_default() {
                    let word = cut(&word);
                    if !messages.contains(&word) {
                        messages.push(word);
                    }
                }
                Self::Refused { method: method.to_owned(), code: cut(&refusal.code), messages }
            }
            SlackClientError::HttpError(status) => {
                unreachable(format!("the answer has the status {}", status.status_code.as_u16()))
            }
            SlackClientError::HttpProtocolError(broken) => unreachable(
                broken.cause.map_or_else(|| "the connection broke".to_owned(), |cause| chain(&*cause)),
            ),
            SlackClientError::ProtocolError(_) => {
                unreachable("the answer is no answer of the Web API".to_owned())
            }
            SlackClientError::EndOfStream(_) => unreachable("the answer was cut off".to_owned()),
            SlackClientError::SystemError(_) | SlackClientError::SocketModeProtocolError(_) => {
                unreachable("the call could not be made".to_owned())
            }
        }
    }
}

fn messages(body: &Value) -> Vec<String> {
    let list = body.get("response_metadata").and_then(|metadata| metadata.get("messages"));
    let mut messages: Vec<String> =
        list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(cut).collect();
    for name in ["needed", "provided"] {
        if let Some(scopes) = body.get(name).and_then(Value::as_str) {
            messages.push(format!("{name}: {}", cut(scopes)));
        }
    }
    messages
}

fn cut(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(MAX_TEXT_LEN).collect()
}

fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    cut(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slack_morphism::errors::{SlackClientApiError, SlackRateLimitError};

    #[test]
    fn a_refusal_says_which_scope_is_missing_and_repeats_no_body() {
        let body = r#"{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"im:read","sent":"secret words"}"#;
        let refusal =
            SlackClientApiError::new("missing_scope".to_owned()).with_http_response_body(body.to_owned());
        let error = CallError::of("chat.postMessage", SlackClientError::ApiError(refusal));
        assert_eq!(
            error.to_string(),
            "chat.postMessage: Slack refused with missing_scope (needed: chat:write; provided: im:read)"
        );
    }

    #[test]
    fn too_many_calls_always_say_how_long_to_wait() {
        let error = CallError::of("x", SlackClientError::RateLimitError(SlackRateLimitError::new()));
        assert_eq!(
            error,
            CallError::RateLimited { method: "x".to_owned(), retry_after: DEFAULT_RETRY_AFTER }
        );
    }
}
