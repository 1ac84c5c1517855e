//! Who may ask what, and who answers it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;

use super::lab::{Lab, lock};
use super::token;
use crate::azure::serve::{RequestHandler, ServedRequest, Service};
use crate::azure::{Answer, Request};
use ghost_base::{Clock as _, Timestamp, same};

/// The header by which the platform numbers what it answers.
const NUMBER: &str = "x-ms-request-id";

/// A lab, as the server knows it.
pub(super) struct LabHandler(pub(super) Arc<Lab>);

#[async_trait]
impl RequestHandler for LabHandler {
    async fn answer(&self, asked: ServedRequest) -> Answer {
        let answer = self.answered(asked).await;
        let named = answer.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(NUMBER));
        if named { answer } else { answer.with(NUMBER, self.0.number()) }
    }

    fn stranger(&self, host: &str) {
        self.0.note(host);
    }
}

impl LabHandler {
    async fn answered(&self, asked: ServedRequest) -> Answer {
        let lab = &self.0;
        let ServedRequest { service, mut request, .. } = asked;
        match service {
            Service::Lab => lab.call(&request).await,
            Service::Identity if request.header("metadata").is_none() => {
                let reported = json!({"error": "invalid_request", "error_description": "Required metadata header not specified"});
                Answer::json(400, reported)
            }
            Service::Identity => lab.manage(&request).await,
            Service::Manager => match self.stranger_to_identity(&request) {
                Some(refused) => refused,
                None => {
                    let delay = lock(&self.0.current).answer_ms;
                    if delay > 0 {
                        tokio::time::sleep(Duration::from_millis(delay)).await;
                    }
                    self.sign(&mut request);
                    lab.manage(&request).await
                }
            },
            Service::Blob(account) => {
                self.sign(&mut request);
                lab.blob(account.as_deref(), &request).await
            }
        }
    }

    /// Refuses whoever asks for a machine's identity and is not the machine: others on this computer can reach the port too.
    fn stranger_to_identity(&self, request: &Request) -> Option<Answer> {
        let path = request.path.trim_end_matches('/').to_ascii_lowercase();
        if path != "/msi/token" && path != "/metadata/identity/oauth2/token" {
            return None;
        }
        let known =
            request.header("x-identity-header").is_some_and(|shown| same(shown, self.0.identity.expose()));
        let why = "the X-IDENTITY-HEADER is not the one of IDENTITY_HEADER";
        (!known).then(|| Answer::json(401, json!({"error": "invalid_request", "error_description": why})))
    }

    /// The lab's own token stands for whoever is signed in; where tokens count as expired, each is one that has expired.
    fn sign(&self, request: &mut Request) {
        let Some(token) = request.header("authorization").and_then(|header| header.strip_prefix("Bearer "))
        else {
            return;
        };
        let own = same(token, self.0.token.expose());
        let signed = if lock(&self.0.current).token_expired {
            let before = self.0.clock().now().as_millis() - 31 * 60 * 1000;
            token::header(self.0.cloud().description(), Timestamp::from_millis(before))
        } else if own {
            self.0.signed()
        } else {
            return;
        };
        request.headers.insert("authorization".to_owned(), signed);
    }
}
