//! The route `/mcp`: who asks, whether they may ask now, and an answer that may last.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Json, Router};
use futures_util::StreamExt as _;
use serde::Deserialize;
use tokio::time::timeout;

use super::access::{Access, Refused};
use super::client::Clients;
use super::limit::RateLimit;
use crate::cli::mcp::message::check;
use ghost_agent::http::Lasting;
use ghost_base::{Clock as _, SystemClock};

/// Where it is.
pub(in crate::cli) const PATH: &str = "/mcp";

/// No request is larger.
const MAX_BODY_BYTES: usize = 4 << 20;

/// So long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// So many requests a minute of people who do not prove who they are get the reason; the others get less.
pub(super) const MAX_STRANGERS: u32 = 120;

/// Everything that the route needs.
pub(super) struct Gate {
    /// Who somebody is.
    pub(super) access: Access,
    /// Those who are known.
    pub(super) clients: Clients,
    /// How many strangers are answered.
    pub(super) strangers: RateLimit,
}

/// As much of a message as says whether it begins a session.
#[derive(Deserialize)]
struct Message {
    method: Option<String>,
}

pub(super) fn route(gate: Arc<Gate>) -> Router {
    Router::new().route(PATH, any(take)).with_state(gate)
}

async fn take(
    State(gate): State<Arc<Gate>>,
    lasting: Option<Extension<Lasting>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if ![Method::GET, Method::POST, Method::DELETE].contains(&parts.method) {
        return (StatusCode::METHOD_NOT_ALLOWED, "GET, POST and DELETE are answered here\n").into_response();
    }
    let body = match timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large, or cut off\n").into_response();
        }
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "too slow\n").into_response(),
    };
    let now = SystemClock.now();
    let name = match gate.access.client(&parts.headers, &body) {
        Ok(name) => name,
        Err(refused) => {
            tracing::warn!("mcp request refused: {refused:?}");
            return match gate.strangers.take(now) {
                Ok(()) => stranger(refused),
                Err(wait) => wait_for(wait),
            };
        }
    };
    let client = match gate.clients.get(&name) {
        Ok(client) => client,
        Err(error) => {
            tracing::error!(mcp.client = name, "mcp client {name} cannot be served: {error:#}");
            return (StatusCode::SERVICE_UNAVAILABLE, "this client cannot be served now\n").into_response();
        }
    };
    if let Err(wait) = client.limit.take(now) {
        tracing::warn!(mcp.client = name, "mcp client {name} asks too often");
        return wait_for(wait);
    }
    let Ok(permit) = Arc::clone(&client.open).try_acquire_owned() else {
        tracing::warn!(mcp.client = name, "mcp client {name} has too many requests open");
        return wait_for(Duration::from_secs(1));
    };
    if let Some(refusal) =
        Some(&body).filter(|_| parts.method == Method::POST).and_then(|body| check(body).err())
    {
        return (StatusCode::BAD_REQUEST, Json(refusal)).into_response();
    }
    if begins_session(&parts.method, &parts.headers, &body) && !client.has_room().await {
        tracing::warn!(mcp.client = name, "mcp client {name} has too many sessions");
        return wait_for(Duration::from_secs(60));
    }
    let answer = client.service.handle(Request::from_parts(parts, Body::from(body))).await;
    let held = (permit, lasting.map(|Extension(lasting)| lasting.hold()));
    let (parts, body) = answer.into_parts();
    // What is held is let go of with the end of the answer, however long that lasts.
    let stream = Body::new(body).into_data_stream().map(move |data| {
        let _held = &held;
        data
    });
    Response::from_parts(parts, Body::from_stream(stream))
}

/// Tells whether a request could begin a session: what is not clearly something else could.
fn begins_session(method: &Method, headers: &HeaderMap, body: &[u8]) -> bool {
    if method != Method::POST || headers.contains_key("mcp-session-id") {
        return false;
    }
    let message: Option<Message> = serde_json::from_slice(body).ok();
    message.and_then(|message| message.method).is_none_or(|method| method == "initialize")
}

fn stranger(refused: Refused) -> Response {
    match refused {
        Refused::Unknown => {
            let how = [(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"ghost\""))];
            (StatusCode::UNAUTHORIZED, how, "say who you are, with a token that Ghost knows\n")
                .into_response()
        }
        Refused::Repeated => (StatusCode::CONFLICT, "this request came before\n").into_response(),
    }
}

fn wait_for(wait: Duration) -> Response {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, HeaderValue::from(seconds.max(1)))], "too many requests\n")
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_begin_a_session_is_known() {
        let none = HeaderMap::new();
        let begins = |body: &str| begins_session(&Method::POST, &none, body.as_bytes());
        for body in
            ["{\"method\":\"initialize\"}", "{\"method\":\"x\",\"method\":\"initialize\"}", "", "[]", "{}"]
        {
            assert!(begins(body), "{body}");
        }
        assert!(!begins("{\"method\":\"tools/list\"}"));
        assert!(!begins_session(&Method::GET, &none, b""));
        let mut with = HeaderMap::new();
        with.insert("mcp-session-id", HeaderValue::from_static("x"));
        assert!(!begins_session(&Method::POST, &with, b"{\"method\":\"initialize\"}"));
    }
}
