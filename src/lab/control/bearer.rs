//! Whether a token is good. Tokens of this cloud are signed by nobody: they say until when they are good, and that is looked at.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::base::{Timestamp, same};
use crate::lab::azure::{Answer, Body};

/// What a token is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bearer {
    /// It is good.
    Good,
    /// There is none.
    Missing,
    /// Nobody can read it.
    Invalid,
    /// It was good until then.
    Expired(Timestamp),
}

impl Bearer {
    /// Judges the header of a request. The lab's own token is always good.
    pub(super) fn judge(header: Option<&str>, own: &str, now: Timestamp) -> Self {
        let Some((scheme, token)) = header.and_then(|header| header.split_once(' ')) else {
            return Self::Missing;
        };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Self::Missing;
        }
        if same(token, own) {
            return Self::Good;
        }
        match expiry(token) {
            None => Self::Invalid,
            Some(until) if until <= now => Self::Expired(until),
            Some(_) => Self::Good,
        }
    }

    /// Returns what the resource manager says; nothing where the token is good.
    pub(super) fn manager(&self, tenant: &str, now: Timestamp) -> Option<Answer> {
        let (code, message, about) = match self {
            Self::Good => return None,
            Self::Missing => (
                "AuthenticationFailed",
                "Authentication failed. The 'Authorization' header is missing.".to_owned(),
                "",
            ),
            Self::Invalid => (
                "InvalidAuthenticationToken",
                "The access token is invalid.".to_owned(),
                ", error=\"invalid_token\", error_description=\"The access token is invalid.\"",
            ),
            Self::Expired(until) => (
                "ExpiredAuthenticationToken",
                format!(
                    "The access token expiry UTC time '{}' is earlier than current UTC time '{}'.",
                    moment(*until),
                    moment(now)
                ),
                ", error=\"invalid_token\", error_description=\"The access token has expired or is not yet valid.\"",
            ),
        };
        let place = format!("Bearer authorization_uri=\"https://login.microsoftonline.com/{tenant}\"{about}");
        let body = json!({"error": {"code": code, "message": message}});
        Some(Answer::json(401, body).with("WWW-Authenticate", place))
    }

    /// Returns what the blob service says; nothing where the token is good.
    pub(super) fn blob(&self) -> Option<Answer> {
        if *self == Self::Good {
            return None;
        }
        let code = "InvalidAuthenticationInfo";
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>Server failed to authenticate the request. Please refer to the information in the www-authenticate header.</Message></Error>"
        );
        let answer = Answer { status: 401, headers: Vec::new(), body: Body::Text("application/xml", text) };
        Some(answer.with("x-ms-error-code", code).with("WWW-Authenticate", "Bearer error=\"invalid_token\""))
    }
}

/// Reads until when a token is good.
fn expiry(token: &str) -> Option<Timestamp> {
    let mut parts = token.split('.');
    let (_, body, _) = (parts.next()?, parts.next()?, parts.next()?);
    let body: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).ok()?).ok()?;
    let seconds = body.get("exp")?.as_i64()?;
    parts.next().is_none().then(|| Timestamp::from_millis(seconds.saturating_mul(1000)))
}

/// Writes a moment as the platform's messages do: `6/2/2025 9:31:00 AM`.
fn moment(at: Timestamp) -> String {
    let form = format_description!(
        "[month padding:none]/[day padding:none]/[year] [hour repr:12 padding:none]:[minute]:[second] [period]"
    );
    let read = OffsetDateTime::from_unix_timestamp(at.as_millis().div_euclid(1000)).ok();
    read.and_then(|read| read.format(form).ok()).unwrap_or_else(|| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(until: i64) -> String {
        format!("Bearer e30.{}.x", URL_SAFE_NO_PAD.encode(json!({"exp": until}).to_string()))
    }

    #[test]
    fn a_token_is_good_until_it_says_and_the_labs_own_always() {
        let now: Timestamp = "2025-06-02T09:31:00.000Z".parse().unwrap();
        let seconds = now.as_millis() / 1000;
        let judge = |header: Option<&str>| Bearer::judge(header, "own", now);
        assert_eq!(judge(Some(&token(seconds + 1))), Bearer::Good);
        assert_eq!(judge(Some("bearer own")), Bearer::Good);
        assert_eq!(judge(None), Bearer::Missing);
        assert_eq!(judge(Some("Basic own")), Bearer::Missing);
        for broken in ["Bearer x", "Bearer a.b.c", "Bearer e30.e30.e30", "Bearer ", "Bearer e30.e30.e30.e30"]
        {
            assert_eq!(judge(Some(broken)), Bearer::Invalid, "{broken}");
        }
        let old = judge(Some(&token(seconds - 31 * 60)));
        let Body::Json(told) = old.manager("t", now).unwrap().body else { panic!() };
        assert_eq!(
            told["error"]["message"],
            "The access token expiry UTC time '6/2/2025 9:00:00 AM' is earlier than current UTC time '6/2/2025 9:31:00 AM'."
        );
    }
}
