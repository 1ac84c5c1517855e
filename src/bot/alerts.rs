//! The port for alerts: `POST /alerts/NAME`. Whoever sends is known by a token or a signature before a word is read.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::post;
use serde::Deserialize;
use serde_json::json;

use crate::bot::core::Core;
use crate::bot::{AlertSource, AlertTaken};
use crate::http::{AlertOutcome, Measures};
use crate::telemetry::TraceParent;
use ghost_base::{Clock, Secret, Timestamp};
use ghost_session::alert::{Proof, Reading, Sender, prove, read};

/// How large a request may be.
const MAX_REQUEST_BYTES: usize = 1 << 20;

/// How long the store may take: less than a request may.
const STORE_PATIENCE: Duration = Duration::from_secs(8);

/// When a sender may try again where the store is away, in seconds.
const RETRY_SECONDS: u64 = 10;

const MINUTE: Duration = Duration::from_secs(60);

/// Returns the secrets of a source at the present moment, one a line.
pub type AlertSecret = dyn Fn() -> Secret + Send + Sync;

/// One source, as the port knows it.
pub struct AlertEndpoint {
    pub source: AlertSource,
    pub secret: Arc<AlertSecret>,
    /// How many requests it may make in a minute.
    pub per_minute: usize,
}

#[derive(Clone)]
struct Port(Arc<PortState>);

struct PortState {
    core: Arc<Core>,
    endpoints: BTreeMap<String, CountedEndpoint>,
    measures: Measures,
    clock: Arc<dyn Clock>,
}

struct CountedEndpoint {
    about: AlertEndpoint,
    times: Mutex<VecDeque<Timestamp>>,
}

/// What senders that can set no header put into the address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    token: Option<String>,
}

/// Returns the routes; none where nobody may send.
pub fn alerts(core: Arc<Core>, endpoints: Vec<AlertEndpoint>, measures: Measures) -> Router {
    if endpoints.is_empty() {
        return Router::new();
    }
    let clock = Arc::clone(&core.clock);
    let endpoints = endpoints
        .into_iter()
        .map(|endpoint| {
            (endpoint.source.name.clone(), CountedEndpoint { about: endpoint, times: Mutex::default() })
        })
        .collect();
    Router::new()
        .route("/alerts/{name}", post(take))
        .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .with_state(Port(Arc::new(PortState { core, endpoints, measures, clock })))
}

async fn take(
    State(port): State<Port>,
    Path(name): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let Some(endpoint) = port.0.endpoint(&name) else {
        return refused(StatusCode::NOT_FOUND, "no source of alerts has this name", None);
    };
    let answered = port.0.taken(endpoint, &parameters, &headers, body).await;
    let (outcome, response) = answered.unwrap_or_else(|refusal| refusal);
    port.0.measures.alert(&endpoint.about.source.name, outcome);
    response
}

type Answered = (AlertOutcome, Response);

impl PortState {
    /// Finds a source by its own name, or by what sends, where there is one of that kind alone.
    fn endpoint(&self, name: &str) -> Option<&CountedEndpoint> {
        if let Some(endpoint) = self.endpoints.get(name) {
            return Some(endpoint);
        }
        let sender = Sender::of(name)?;
        let mut of_kind = self.endpoints.values().filter(|endpoint| endpoint.about.source.sender == sender);
        of_kind.next().filter(|_| of_kind.next().is_none())
    }

    async fn taken(
        &self,
        endpoint: &CountedEndpoint,
        parameters: &Parameters,
        headers: &HeaderMap,
        body: Result<Bytes, BytesRejection>,
    ) -> Result<Answered, Answered> {
        let source = &endpoint.about.source;
        let body = body.map_err(|error| {
            let status = error.status();
            let what = match status {
                StatusCode::PAYLOAD_TOO_LARGE => "an alert has at most 1 MB",
                _ => "the body did not arrive whole",
            };
            (AlertOutcome::Unreadable, refused(status, what, None))
        })?;
        let now = self.clock.now();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let named = Proof::headers(source.sender);
        let proof = Proof {
            authorization: text(header::AUTHORIZATION.as_str()),
            signature: named.and_then(|(signature, _)| text(signature)),
            timestamp: named.and_then(|(_, timestamp)| text(timestamp?)),
            token: parameters.token.as_deref(),
        };
        prove(source.sender, &proof, &body, &(endpoint.about.secret)(), now).map_err(|why| {
            tracing::warn!(alert.source = %source.name, "alert refused: {why}");
            (AlertOutcome::Refused, refused(StatusCode::UNAUTHORIZED, &why.to_string(), None))
        })?;
        endpoint.count(now).map_err(|wait| {
            let what = "more alerts in a minute than this source may send";
            (AlertOutcome::Limited, refused(StatusCode::TOO_MANY_REQUESTS, what, Some(wait)))
        })?;
        let reading = read(source.sender, &body, now).map_err(|why| {
            tracing::warn!(alert.source = %source.name, "alert not read: {why}");
            (AlertOutcome::Unreadable, refused(StatusCode::BAD_REQUEST, &why.to_string(), None))
        })?;
        let alert = match reading {
            Reading::Alerts(mut alert) => {
                let parent = text("traceparent").filter(|parent| parent.parse::<TraceParent>().is_ok());
                alert.traceparent = parent.map(|parent| parent.trim().to_owned());
                alert
            }
            Reading::Other(what) => {
                let body = json!({"session": null, "duplicate": false, "ignored": what});
                return Ok((AlertOutcome::Ignored, accepted(body)));
            }
        };
        let gone = || {
            let what = "the store does not answer; nothing was done, send it again";
            (AlertOutcome::Unavailable, refused(StatusCode::SERVICE_UNAVAILABLE, what, Some(RETRY_SECONDS)))
        };
        let taken = match tokio::time::timeout(STORE_PATIENCE, self.core.alert(source, &alert)).await {
            Ok(Ok(taken)) => taken,
            Ok(Err(error)) => {
                tracing::warn!(alert.source = %source.name, "alert refused, the store did not take it: {}", ghost_base::causes(&error));
                return Err(gone());
            }
            Err(_) => {
                tracing::warn!(alert.source = %source.name, "alert refused, the store did not answer in time");
                return Err(gone());
            }
        };
        Ok(answer(source, &taken))
    }
}

impl CountedEndpoint {
    /// Counts a request, or says how many seconds it is too early.
    fn count(&self, now: Timestamp) -> Result<(), u64> {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        while times.front().is_some_and(|at| now.since(*at) >= MINUTE) {
            times.pop_front();
        }
        if times.len() >= self.about.per_minute {
            let first = times.front().copied().unwrap_or(now);
            return Err(MINUTE.saturating_sub(now.since(first)).as_secs().max(1));
        }
        times.push_back(now);
        Ok(())
    }
}

fn answer(source: &AlertSource, taken: &AlertTaken) -> Answered {
    let session = taken.session().map(ToString::to_string);
    let (outcome, duplicate, ignored) = match taken {
        AlertTaken::Opened(_) => (AlertOutcome::Opened, false, None),
        AlertTaken::Joined(_) => (AlertOutcome::Joined, true, None),
        AlertTaken::Resolved(_) => (AlertOutcome::Resolved, true, None),
        AlertTaken::Nothing => (AlertOutcome::Ignored, false, Some("nothing is known of it")),
        AlertTaken::Maintenance => (AlertOutcome::Maintenance, false, Some("maintenance")),
        AlertTaken::OutOfScope => {
            (AlertOutcome::OutOfScope, false, Some("outside of what its channel may look at"))
        }
    };
    match &session {
        Some(session) => {
            tracing::info!(alert.source = %source.name, session.id = %session, "alert taken: {}", outcome.word());
        }
        None => tracing::info!(alert.source = %source.name, "alert taken: {}", outcome.word()),
    }
    let mut body = json!({"session": session, "duplicate": duplicate});
    if let (Some(ignored), Some(object)) = (ignored, body.as_object_mut()) {
        object.insert("ignored".to_owned(), ignored.into());
    }
    (outcome, accepted(body))
}

fn accepted(body: serde_json::Value) -> Response {
    (StatusCode::ACCEPTED, Json(body)).into_response()
}

fn refused(status: StatusCode, why: &str, retry_seconds: Option<u64>) -> Response {
    let mut response = (status, Json(json!({ "error": why }))).into_response();
    if let Some(seconds) = retry_seconds {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}
