//! Slack's signed requests: in place of sockets, to the same handlers.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::post;

use ghost_base::{Clock, Secret};
use ghost_slack::arrive::Origin;
use ghost_slack::signed::{Received, receive};
use ghost_slack::socket::{Answer, Handler};

/// How large a request may be.
const MAX_REQUEST_BYTES: usize = 4 << 20;

/// Returns the signing secret of the present moment.
pub type Signing = dyn Fn() -> Secret + Send + Sync;

/// Whose requests are taken: those of our workspace, or organization, and of our app. The app names itself in the first request
/// that is signed and of our workspace; from then on no other is believed.
#[derive(Debug, Default)]
pub struct OwnApp {
    team: Option<String>,
    enterprise: Option<String>,
    app: OnceLock<String>,
}

impl OwnApp {
    /// Whose requests they are, as `auth.test` tells it.
    #[must_use]
    pub fn new(team: Option<String>, enterprise: Option<String>) -> Self {
        Self { team, enterprise, app: OnceLock::new() }
    }

    fn refuses(&self, origin: &Origin) -> bool {
        let foreign = |app: Option<&String>| {
            origin.is_foreign(self.team.as_deref(), self.enterprise.as_deref(), app.map(String::as_str))
        };
        if foreign(self.app.get()) {
            return true;
        }
        // Of two that come at once, one is the first.
        origin.app.clone().is_some_and(|app| *self.app.get_or_init(|| app.clone()) != app)
    }
}

#[derive(Clone)]
struct RequestState {
    own: Arc<OwnApp>,
    handler: Arc<dyn Handler>,
    signing: Arc<Signing>,
    clock: Arc<dyn Clock>,
}

/// Returns the route for events, clicks, dialogs, commands and shortcuts: `/slack/events`.
pub fn requests(
    handler: Arc<dyn Handler>,
    own: OwnApp,
    signing: Arc<Signing>,
    clock: Arc<dyn Clock>,
) -> Router {
    Router::new()
        .route("/slack/events", post(take))
        .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .with_state(RequestState { handler, own: Arc::new(own), signing, clock })
}

async fn take(State(state): State<RequestState>, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match receive(header, &body, &(state.signing)(), state.clock.now()) {
        Ok(Received::Challenge(challenge)) => challenge.into_response(),
        Ok(Received::Probe) => StatusCode::OK.into_response(),
        Ok(Received::Arrival(arrival)) if state.own.refuses(&arrival.origin) => {
            tracing::warn!("signed request of another workspace or app refused");
            (StatusCode::FORBIDDEN, "not for this app in this workspace").into_response()
        }
        Ok(Received::Arrival(arrival)) => match state.handler.take(*arrival).await {
            Answer::Done => StatusCode::OK.into_response(),
            Answer::With(answer) => Json(answer).into_response(),
            // Slack sends it again.
            Answer::Refuse => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
        Err(refused) => {
            tracing::warn!("slack signature check failed: {refused}");
            let status = StatusCode::from_u16(refused.status()).unwrap_or(StatusCode::UNAUTHORIZED);
            (status, refused.to_string()).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(team: &str, app: &str) -> Origin {
        Origin { team: Some(team.to_owned()), app: Some(app.to_owned()), ..Origin::default() }
    }

    #[test]
    fn what_a_partner_writes_in_a_shared_channel_is_taken() {
        let own = OwnApp::new(Some("T1".to_owned()), None);
        let envelope = |more: serde_json::Value| {
            let mut body = serde_json::json!({"type": "event_callback", "event_id": "Ev1", "team_id": "T2", "api_app_id": "A1",
                "is_ext_shared_channel": true, "event": {"type": "app_mention", "user": "U2", "channel": "C1", "ts": "1.2"}});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            ghost_slack::arrive::event(&body).origin
        };
        let ours = envelope(serde_json::json!({"context_team_id": "T1"}));
        assert!(!own.refuses(&ours) && ours.team.as_deref() == Some("T1"));
        let ours = envelope(
            serde_json::json!({"context_team_id": "T2", "authorizations": [{"team_id": "T1", "is_bot": true}]}),
        );
        assert!(!own.refuses(&ours));
        let theirs =
            envelope(serde_json::json!({"context_team_id": "T2", "authorizations": [{"team_id": "T2"}]}));
        assert!(own.refuses(&theirs));
    }

    #[test]
    fn a_signed_request_of_another_workspace_or_another_app_is_refused() {
        let own = OwnApp::new(Some("T1".to_owned()), Some("E1".to_owned()));
        assert!(own.refuses(&origin("T2", "A2")));
        // What was refused taught nothing.
        assert!(!own.refuses(&origin("T1", "A1")));
        assert!(own.refuses(&origin("T1", "A2")));
        assert!(!own.refuses(&origin("T1", "A1")) && !own.refuses(&Origin::default()));
        // The organization installed it for all of its workspaces.
        let mut wide =
            Origin { enterprise: Some("E1".to_owned()), enterprise_install: true, ..origin("T2", "A1") };
        assert!(!own.refuses(&wide));
        wide.enterprise = Some("E2".to_owned());
        assert!(own.refuses(&wide));
    }
}
