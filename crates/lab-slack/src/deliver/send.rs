//! Delivering: the first attempt at once and in order, the others when they are due.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::deliver::http::{AppRequest, DeliveryError};
use crate::server::Inner;
use crate::state::{Effect, Interaction, Post};

/// How many delivered events are remembered, so that they can be delivered again.
const REMEMBERED: usize = 256;

/// What became of an interaction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AppAnswer {
    /// It was acknowledged, with this in the acknowledgement.
    Yes(Value),
    /// It was not, in three seconds.
    TooLate,
    /// There is nobody to ask.
    Nobody,
}

/// Where an app takes requests: address and secret.
type AppEndpoint = (String, String);

impl Inner {
    /// Delivers what happened.
    pub(crate) fn deliver(self: &Arc<Self>, happenings: Vec<Effect>) {
        for happening in happenings {
            match happening {
                Effect::Notice(notice) => self.notify(notice),
                Effect::Event { app, payload } => self.event(app, payload),
            }
        }
    }

    fn event(self: &Arc<Self>, app: String, payload: Value) {
        {
            let mut recent = self.recent();
            recent.push_back((app.clone(), payload.clone()));
            if recent.len() > REMEMBERED {
                recent.pop_front();
            }
        }
        let mut row = Vec::new();
        {
            let mut faults = self.faults();
            if let Some(before) = faults.held.take() {
                row.push((app, payload));
                row.push(before);
            } else if faults.swaps > 0 {
                faults.swaps -= 1;
                faults.held = Some((app, payload));
            } else {
                if faults.duplicates > 0 {
                    faults.duplicates -= 1;
                    row.push((app.clone(), payload.clone()));
                }
                row.push((app, payload));
            }
        }
        for (app, payload) in row {
            self.dispatch(app, payload, None);
        }
    }

    /// Sends an event now, and follows it until it is acknowledged. `retry` makes it look like one that was sent before.
    pub(crate) fn dispatch(self: &Arc<Self>, app: String, payload: Value, retry: Option<usize>) {
        self.journal().sent();
        let inner = Arc::clone(self);
        let first = retry.unwrap_or(0);
        match self.endpoint(&app, Post::Interactive, true) {
            Some(endpoint) => self.spawn(async move {
                let acknowledged = inner.follow_posts(endpoint, &payload, first).await;
                inner.journal().arrived(&app, &payload, acknowledged);
            }),
            None => {
                // In this very moment, so that events keep their order on one connection.
                let acknowledgement = self.sockets().hand(&app, envelope(&payload, first));
                self.spawn(async move {
                    let acknowledged = inner.follow(&app, &payload, first, acknowledgement).await;
                    inner.journal().arrived(&app, &payload, acknowledged);
                });
            }
        }
    }

    async fn follow(
        &self,
        app: &str,
        payload: &Value,
        first: usize,
        acknowledgement: Option<oneshot::Receiver<Value>>,
    ) -> bool {
        let mut acknowledgement = acknowledgement;
        for (number, wait) in self.timing.retries.iter().enumerate().skip(first) {
            if acknowledged(acknowledgement, self).await {
                return true;
            }
            sleep(*wait).await;
            acknowledgement = self.sockets().hand(app, envelope(payload, number + 1));
        }
        acknowledged(acknowledgement, self).await
    }

    async fn follow_posts(&self, endpoint: AppEndpoint, payload: &Value, first: usize) -> bool {
        let (url, secret) = endpoint;
        let mut reason = "http_timeout";
        for number in first..=self.timing.retries.len() {
            if number > first {
                let wait = self.timing.retries.get(number - 1).copied().unwrap_or_default();
                sleep(wait).await;
            }
            let retry = (number > 0).then_some((number, reason));
            let body = payload.to_string();
            let app_request =
                AppRequest { url: &url, secret: &secret, content_type: "application/json", body, retry };
            match self.carrier.send(app_request, self.clock.now(), self.timing.acknowledge).await {
                Ok(_) => return true,
                Err(DeliveryError { final_: true, .. }) => return false,
                Err(missed) => reason = missed.reason,
            }
        }
        false
    }

    /// Asks an app about an interaction, once.
    pub(crate) async fn ask(&self, interaction: &Interaction) -> AppAnswer {
        let answered = self.asked(interaction).await;
        self.journal().asked(interaction, &answered);
        answered
    }

    async fn asked(&self, interaction: &Interaction) -> AppAnswer {
        let Some((url, secret)) = self.endpoint(&interaction.app, interaction.post, false) else {
            return self.ask_socket(interaction).await;
        };
        let body = match interaction.post {
            Post::Interactive => form([("payload", interaction.payload.to_string())]),
            Post::Command => {
                let fields = interaction.payload.as_object().into_iter().flatten();
                form(
                    fields
                        .map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default().to_owned())),
                )
            }
        };
        let content_type = "application/x-www-form-urlencoded";
        let app_request = AppRequest { url: &url, secret: &secret, content_type, body, retry: None };
        match self.carrier.send(app_request, self.clock.now(), self.timing.acknowledge).await {
            Ok(answer) => {
                let said = String::from_utf8_lossy(&answer).into_owned();
                // A command may be answered in plain words.
                let words = || if said.is_empty() { Value::Null } else { json!({"text": said}) };
                AppAnswer::Yes(serde_json::from_str(&said).unwrap_or_else(|_| words()))
            }
            Err(missed) if missed.reason == "connection_failed" => AppAnswer::Nobody,
            Err(_) => AppAnswer::TooLate,
        }
    }

    async fn ask_socket(&self, interaction: &Interaction) -> AppAnswer {
        let kind = match interaction.post {
            Post::Interactive => "interactive",
            Post::Command => "slash_commands",
        };
        let envelope =
            json!({"type": kind, "payload": interaction.payload, "accepts_response_payload": true});
        let acknowledgement = self.sockets().hand(&interaction.app, envelope);
        let Some(acknowledgement) = acknowledgement else { return AppAnswer::Nobody };
        match timeout(self.timing.acknowledge, acknowledgement).await {
            Ok(Ok(answer)) => AppAnswer::Yes(answer),
            Ok(Err(_)) | Err(_) => AppAnswer::TooLate,
        }
    }

    fn endpoint(&self, app: &str, post: Post, event: bool) -> Option<AppEndpoint> {
        let workspace = self.workspace();
        let app = workspace.app(app).ok()?;
        let url = match (event, post) {
            (true, _) => app.request_url.clone(),
            (false, Post::Interactive) => app.interactivity_url.clone().or_else(|| app.request_url.clone()),
            (false, Post::Command) => app.command_url.clone().or_else(|| app.request_url.clone()),
        };
        Some((url?, app.signing_secret.clone()))
    }
}

/// Waits for an acknowledgement as long as one may take.
async fn acknowledged(acknowledgement: Option<oneshot::Receiver<Value>>, inner: &Inner) -> bool {
    match acknowledgement {
        Some(acknowledgement) => timeout(inner.timing.acknowledge, acknowledgement)
            .await
            .is_ok_and(|acknowledgement| acknowledgement.is_ok()),
        None => {
            sleep(inner.timing.acknowledge).await;
            false
        }
    }
}

fn envelope(payload: &Value, retry: usize) -> Value {
    let reason = if retry > 0 { "timeout" } else { "" };
    json!({
        "type": "events_api", "payload": payload, "accepts_response_payload": false, "retry_attempt": retry,
        "retry_reason": reason,
    })
}

fn form<'a>(fields: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let escaped = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
                    char::from(byte).to_string()
                }
                b' ' => "+".to_owned(),
                _ => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs = fields.into_iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(&value)));
    pairs.collect::<Vec<_>>().join("&")
}
