//! Slack's signed requests: the other way in, to the same handlers.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::post;

use crate::base::{Clock, Secret};
use crate::slack::signed::{Received, receive};
use crate::slack::socket::{Answer, Handler};

/// How large a request may be.
const LARGEST: usize = 4 << 20;

/// Returns the signing secret of the present moment.
pub type Signing = dyn Fn() -> Secret + Send + Sync;

#[derive(Clone)]
struct Door {
    handler: Arc<dyn Handler>,
    signing: Arc<Signing>,
    clock: Arc<dyn Clock>,
}

/// Returns the route for events, clicks, dialogs, commands and shortcuts: `/slack/events`.
pub fn requests(handler: Arc<dyn Handler>, signing: Arc<Signing>, clock: Arc<dyn Clock>) -> Router {
    Router::new().route("/slack/events", post(take)).layer(DefaultBodyLimit::max(LARGEST)).with_state(Door {
        handler,
        signing,
        clock,
    })
}

async fn take(State(door): State<Door>, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match receive(header, &body, &(door.signing)(), door.clock.now()) {
        Ok(Received::Challenge(challenge)) => challenge.into_response(),
        Ok(Received::Probe) => StatusCode::OK.into_response(),
        Ok(Received::Arrival(arrival)) => match door.handler.take(*arrival).await {
            Answer::Done => StatusCode::OK.into_response(),
            Answer::With(answer) => Json(answer).into_response(),
            // Slack sends it again.
            Answer::Refuse => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
        Err(refused) => {
            tracing::warn!("a request is not Slack's: {refused}");
            let status = StatusCode::from_u16(refused.status()).unwrap_or(StatusCode::UNAUTHORIZED);
            (status, refused.to_string()).into_response()
        }
    }
}
