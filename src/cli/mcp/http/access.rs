//! Who a request comes from: a token, a person in Slack, or whoever is on this machine.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use serde::Deserialize;

use super::limit::Once;
use super::token::TokenFile;
use ghost_base::{Clock, Secret};
use ghost_slack::signed::{self, WINDOW};

/// The client where nobody has to say who they are.
const LOCAL: &str = "local";

/// Ids of Slack are no longer.
const MAX_ID_CHARS: usize = 24;

/// Returns the signing secret of the present moment.
pub(in crate::cli) type Signing = Arc<dyn Fn() -> Secret + Send + Sync>;

/// Whose requests Slack signs.
pub(in crate::cli) struct SlackIdentity {
    /// By what they are checked.
    pub(in crate::cli) secret: Signing,
    /// The workspace, where it is known: people of others are nobody.
    pub(in crate::cli) team: Option<String>,
}

/// Says who a request comes from.
pub(super) struct Access {
    tokens: Option<TokenFile>,
    slack: Option<SlackIdentity>,
    signatures: Once,
    clock: Arc<dyn Clock>,
}

/// Why nobody is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It does not say who sends it, or cannot prove it.
    Unknown,
    /// Slack signed it, and it came before.
    Repeated,
}

/// As much of a body as says who a person in Slack is.
#[derive(Deserialize)]
struct SignedBody {
    params: SignedParams,
}

#[derive(Deserialize)]
struct SignedParams {
    #[serde(rename = "_meta")]
    meta: SignedMeta,
}

#[derive(Deserialize)]
struct SignedMeta {
    slack: Person,
}

#[derive(Deserialize)]
struct Person {
    user_id: String,
    team_id: String,
}

impl Access {
    /// Believes the tokens of a file, and Slack's signatures; without both, everybody who reaches it.
    pub(super) fn new(
        tokens: Option<TokenFile>,
        slack: Option<SlackIdentity>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { tokens, slack, signatures: Once::new(2 * WINDOW), clock }
    }

    /// Names the client that a request comes from.
    ///
    /// # Errors
    /// Fails where it does not prove who it is.
    pub(super) fn client(&self, headers: &HeaderMap, body: &[u8]) -> Result<String, Refused> {
        if self.tokens.is_none() && self.slack.is_none() {
            return Ok(LOCAL.to_owned());
        }
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if let (Some(slack), Some(signature)) = (&self.slack, text("x-slack-signature")) {
            return self.person(slack, text, signature, body);
        }
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let (scheme, token) = given.and_then(|given| given.split_once(' ')).ok_or(Refused::Unknown)?;
        let tokens = self.tokens.as_ref().filter(|_| scheme.eq_ignore_ascii_case("bearer"));
        tokens.and_then(|tokens| tokens.client(token.trim())).ok_or(Refused::Unknown)
    }

    /// Names a person of Slack. The bytes are checked before anything in them is read.
    fn person<'h>(
        &self,
        slack: &SlackIdentity,
        header: impl Fn(&str) -> Option<&'h str>,
        signature: &str,
        body: &[u8],
    ) -> Result<String, Refused> {
        let now = self.clock.now();
        signed::verify(&header, body, &(slack.secret)(), now).map_err(|refused| {
            tracing::warn!("slack signature check failed: {refused}");
            Refused::Unknown
        })?;
        let body: SignedBody = serde_json::from_slice(body).map_err(|_| Refused::Unknown)?;
        let Person { user_id, team_id } = body.params.meta.slack;
        let is_id = |id: &str| {
            (2..=MAX_ID_CHARS).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        };
        if !is_id(&user_id) || !is_id(&team_id) || slack.team.as_ref().is_some_and(|team| *team != team_id) {
            return Err(Refused::Unknown);
        }
        if !self.signatures.is_first(signature, now) {
            return Err(Refused::Repeated);
        }
        Ok(format!("slack-{team_id}-{user_id}"))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use ghost_base::{ManualClock, Timestamp, hmac_sha256};
    use serde_json::{Value, json};

    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn access(team: Option<&str>) -> Access {
        let slack =
            SlackIdentity { secret: Arc::new(|| Secret::new("secret")), team: team.map(str::to_owned) };
        let clock = ManualClock::new(Timestamp::from_millis(NOW * 1_000));
        Access::new(None, Some(slack), Arc::new(clock))
    }

    fn signed(at: i64, body: &Value, secret: &str) -> (HeaderMap, Vec<u8>) {
        let body = body.to_string();
        let signature = hmac_sha256(secret.as_bytes(), format!("v0:{at}:{body}").as_bytes());
        let mut headers = HeaderMap::new();
        headers.insert("x-slack-request-timestamp", HeaderValue::from_str(&at.to_string()).unwrap());
        headers.insert("x-slack-signature", HeaderValue::from_str(&format!("v0={signature}")).unwrap());
        (headers, body.into_bytes())
    }

    fn call(user: &str, team: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"slack": {"user_id": user, "team_id": team}}}})
    }

    #[test]
    fn a_signed_request_comes_from_the_person_that_it_names_once() {
        let access = access(None);
        let (headers, body) = signed(NOW, &call("U1ANA", "T1"), "secret");
        assert_eq!(access.client(&headers, &body), Ok("slack-T1-U1ANA".to_owned()));
        assert_eq!(access.client(&headers, &body), Err(Refused::Repeated));
        let (headers, body) = signed(NOW + 1, &call("U1ANA", "T1"), "secret");
        assert!(access.client(&headers, &body).is_ok());
    }

    #[test]
    fn what_is_not_signed_stale_foreign_or_nameless_comes_from_nobody() {
        let good = call("U1ANA", "T1");
        for (at, body, secret, team) in [
            (NOW, good.clone(), "other", None),
            (NOW - 301, good.clone(), "secret", None),
            (NOW + 301, good.clone(), "secret", None),
            (NOW, good.clone(), "secret", Some("T2")),
            (NOW, json!({"method": "tools/list"}), "secret", None),
            (NOW, json!([good.clone()]), "secret", None),
            (NOW, call("../x", "T1"), "secret", None),
            (NOW, call("U1", ""), "secret", None),
        ] {
            let (headers, bytes) = signed(at, &body, secret);
            assert_eq!(access(team).client(&headers, &bytes), Err(Refused::Unknown), "{body} {at} {team:?}");
        }
        let (headers, mut body) = signed(NOW, &good, "secret");
        body.push(b' ');
        assert_eq!(access(None).client(&headers, &body), Err(Refused::Unknown));
        assert_eq!(access(None).client(&HeaderMap::new(), b"{}"), Err(Refused::Unknown));
    }

    #[test]
    fn where_nobody_is_known_everybody_on_the_machine_is_one_client() {
        let access = Access::new(None, None, Arc::new(ghost_base::SystemClock));
        assert_eq!(access.client(&HeaderMap::new(), b"").as_deref(), Ok("local"));
    }
}
