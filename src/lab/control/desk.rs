//! Who may ask what, and who answers it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::bearer::Bearer;
use super::lab::{Lab, lock};
use crate::base::{Clock as _, Timestamp, same};
use crate::lab::azure::serve::{Asked, Desk, Service};
use crate::lab::azure::{Answer, Request};

/// A lab, as the server knows it.
pub(super) struct Front(pub(super) Arc<Lab>);

#[async_trait]
impl Desk for Front {
    async fn answer(&self, asked: Asked) -> Answer {
        let (lab, request) = (&self.0, &asked.request);
        match &asked.service {
            Service::Lab => lab.call(request).await,
            Service::Identity if request.header("metadata").is_none() => Answer::json(
                400,
                json!({"error": "invalid_request", "error_description": "Required metadata header not specified"}),
            ),
            Service::Identity => lab.manage(request).await,
            Service::Manager => match self.refused(request) {
                Some(refused) => refused,
                None => lab.manage(request).await,
            },
            Service::Blob(account) => {
                let signed = request.header("authorization").filter(|header| header.starts_with("Bearer "));
                match signed.and_then(|header| self.judged(Some(header)).blob()) {
                    Some(refused) => refused,
                    None => lab.blob(account.as_deref(), request).await,
                }
            }
        }
    }

    fn stranger(&self, host: &str) {
        self.0.note(host);
    }
}

impl Front {
    /// Refuses what comes without a good token; signing in, and finding out where, needs none.
    fn refused(&self, request: &Request) -> Option<Answer> {
        let path = request.path.trim_end_matches('/').to_ascii_lowercase();
        if path == "/msi/token" || path == "/metadata/identity/oauth2/token" {
            let shown = request.header("x-identity-header");
            let known = shown.is_some_and(|shown| same(shown, self.0.identity.expose()));
            let told = json!({"error": "invalid_request", "error_description": "the identity header is not the one of IDENTITY_HEADER"});
            return (!known).then(|| Answer::json(401, told));
        }
        if path == "/metadata/endpoints" || path.contains("/oauth2/") || path.contains("/.well-known/") {
            return None;
        }
        let tenant = self
            .0
            .cloud()
            .description()
            .subscription
            .get("tenantId")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        self.judged(request.header("authorization")).manager(&tenant, self.0.clock().now())
    }

    fn judged(&self, header: Option<&str>) -> Bearer {
        let now = self.0.clock().now();
        match Bearer::judge(header, self.0.token.expose(), now) {
            Bearer::Good if lock(&self.0.knobs).token_expired => {
                Bearer::Expired(Timestamp::from_millis(now.as_millis() - 31 * 60 * 1000))
            }
            judged => judged,
        }
    }
}
