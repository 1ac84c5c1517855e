//! The other transport: signed requests to an address of the app.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use rustls::crypto::{CryptoProvider, ring};
use serde_json::{Value, json};

use ghost_base::{Timestamp, hmac_sha256};

/// How much of an answer is read.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Carries requests to an app.
#[derive(Debug)]
pub(crate) struct HttpSender(reqwest::Client);

/// Why a request was not acknowledged, in the word of `X-Slack-Retry-Reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveryError {
    pub(crate) reason: &'static str,
    /// Whether the app asked for no retry.
    pub(crate) final_: bool,
}

pub(crate) struct AppRequest<'a> {
    pub(crate) url: &'a str,
    pub(crate) secret: &'a str,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
    /// Which retry this is, and why.
    pub(crate) retry: Option<(usize, &'static str)>,
}

impl HttpSender {
    /// Makes a carrier.
    pub(crate) fn new() -> Result<Self, reqwest::Error> {
        if CryptoProvider::get_default().is_none() {
            drop(ring::default_provider().install_default());
        }
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Ok(Self(client.tls_certs_only([]).build()?))
    }

    /// Sends a request and returns what was answered in time.
    pub(crate) async fn send(
        &self,
        app_request: AppRequest<'_>,
        now: Timestamp,
        within: Duration,
    ) -> Result<Vec<u8>, DeliveryError> {
        let time = now.as_millis().div_euclid(1000);
        let sign = signature(app_request.secret, time, &app_request.body);
        let mut request = self
            .0
            .post(app_request.url)
            .header(CONTENT_TYPE, app_request.content_type)
            .header("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
            .header("X-Slack-Request-Timestamp", time.to_string())
            .header("X-Slack-Signature", sign)
            .timeout(within);
        if let Some((number, reason)) = app_request.retry {
            request = request
                .header("X-Slack-Retry-Num", number.to_string())
                .header("X-Slack-Retry-Reason", reason);
        }
        let missed = |error: reqwest::Error| DeliveryError {
            reason: if error.is_timeout() { "http_timeout" } else { "connection_failed" },
            final_: false,
        };
        let mut answer = request.body(app_request.body).send().await.map_err(missed)?;
        if !answer.status().is_success() {
            let final_ = answer.headers().get("X-Slack-No-Retry").is_some_and(|value| value == "1");
            return Err(DeliveryError { reason: "http_error", final_ });
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(missed)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER_BYTES {
                return Err(DeliveryError { reason: "http_error", final_: true });
            }
        }
        Ok(body)
    }
}

/// Asks an address whether it belongs to the app: it has to give the challenge back.
pub(crate) async fn verify_url(
    carrier: &HttpSender,
    url: &str,
    secret: &str,
    token: &str,
    challenge: &str,
    now: Timestamp,
    within: Duration,
) -> bool {
    let body = json!({"token": token, "challenge": challenge, "type": "url_verification"}).to_string();
    let app_request = AppRequest { url, secret, content_type: "application/json", body, retry: None };
    let Ok(answer) = carrier.send(app_request, now, within).await else { return false };
    let said = String::from_utf8_lossy(&answer);
    let inside = serde_json::from_str::<Value>(&said).ok();
    let inside = inside.as_ref().and_then(|answer| answer.get("challenge")).and_then(Value::as_str);
    inside.unwrap_or_else(|| said.trim().trim_start_matches("challenge=")) == challenge
}

/// Signs the body of a request: `v0=` and the keyed digest of version, time and body.
pub(crate) fn signature(secret: &str, time: i64, body: &str) -> String {
    format!("v0={}", hmac_sha256(secret.as_bytes(), format!("v0:{time}:{body}").as_bytes()))
}

#[cfg(test)]
mod signature_tests {
    use super::*;

    #[test]
    fn a_signature_changes_with_time_and_body() {
        let one = signature("secret", 1, "a");
        assert!(one.starts_with("v0=") && one.len() == 67);
        assert_ne!(one, signature("secret", 2, "a"));
        assert_ne!(one, signature("secret", 1, "b"));
    }
}
