//! The bot's side: requests over HTTP, each caller by their token, each with its own requests alone.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

use super::callers::{Caller, Callers, NotServed};
use super::link::{Link as _, LinkError, MAX_TEXT_BYTES, StandingQuery};
use super::store::StoreLink;
use ghost_base::{Clock, SessionId};
use ghost_investigate::event::OutsideRequest;
use ghost_investigate::outside::Standing;
use ghost_store::Store;

/// A request holds two long texts, written as JSON.
const MAX_BODY_BYTES: usize = 4 * MAX_TEXT_BYTES;

/// How long an answer is held back at most: less than a request may take.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// A longer key or nonce is none of ours.
const MAX_KEY_CHARS: usize = 128;

/// What the routes need.
#[derive(Clone)]
pub struct OutsideServer {
    /// Where requests are kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who may ask.
    pub callers: Arc<Callers>,
}

/// What is sent to make a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskBody {
    /// Names the attempt: the same again is the same request.
    pub(super) nonce: String,
    pub(super) request: OutsideRequest,
}

/// What is sent to use a consent up.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TakeBody {
    pub(super) key: String,
}

/// What is sent to say that somebody waits, or no longer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttendBody {
    pub(super) waits: bool,
}

/// The name of a request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
}

/// What is asked about a request.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StandingParameters {
    pub(super) wait_ms: u64,
    pub(super) beyond_granted: bool,
}

/// Returns the routes: `POST /outside`, and below `/outside/{id}` a `GET`, `POST take` and `POST attend`.
pub fn routes(server: OutsideServer) -> Router {
    Router::new()
        .route("/outside", post(ask))
        .route("/outside/{id}", get(standing))
        .route("/outside/{id}/take", post(take))
        .route("/outside/{id}/attend", post(attend))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(server)
}

async fn ask(State(server): State<OutsideServer>, headers: HeaderMap, body: Bytes) -> Response {
    let asked = async {
        let caller = server.caller(&headers, true)?;
        let AskBody { nonce, request } = parsed(&body)?;
        key(&nonce)?;
        let id = server.link(caller).ask(&nonce, &request).await.map_err(Refused::from)?;
        tracing::info!(session.id = %id, caller = %caller.name, "request from outside taken");
        Ok::<_, Refused>((StatusCode::ACCEPTED, Json(Named { id: id.to_string() })).into_response())
    };
    asked.await.unwrap_or_else(Refused::response)
}

async fn standing(
    State(server): State<OutsideServer>,
    Path(id): Path<String>,
    Query(asked): Query<StandingParameters>,
    headers: HeaderMap,
) -> Response {
    let found = async {
        let caller = server.caller(&headers, false)?;
        let id = named(&id)?;
        let wait = Duration::from_millis(asked.wait_ms).min(MAX_WAIT);
        let query = StandingQuery { wait, beyond_granted: asked.beyond_granted };
        let found: Option<Standing> =
            server.link(caller).standing(&id, query).await.map_err(Refused::from)?;
        found.map(|standing| Json(standing).into_response()).ok_or(Refused::NOT_THERE)
    };
    found.await.unwrap_or_else(Refused::response)
}

async fn take(
    State(server): State<OutsideServer>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let taken = async {
        let caller = server.caller(&headers, false)?;
        let (id, TakeBody { key: wanted }) = (named(&id)?, parsed(&body)?);
        key(&wanted)?;
        server.link(caller).take(&id, &wanted).await.map_err(Refused::from)?;
        Ok::<_, Refused>(StatusCode::ACCEPTED.into_response())
    };
    taken.await.unwrap_or_else(Refused::response)
}

async fn attend(
    State(server): State<OutsideServer>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let noted = async {
        let caller = server.caller(&headers, false)?;
        let (id, AttendBody { waits }) = (named(&id)?, parsed(&body)?);
        server.link(caller).attend(&id, waits).await.map_err(Refused::from)?;
        Ok::<_, Refused>(StatusCode::ACCEPTED.into_response())
    };
    noted.await.unwrap_or_else(Refused::response)
}

impl OutsideServer {
    /// Finds out who asks, and counts it.
    fn caller(&self, headers: &HeaderMap, is_request: bool) -> Result<&Caller, Refused> {
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = value.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let caller = self.callers.find(token);
        let counted = caller.and_then(|caller| self.callers.count(caller, is_request).map(|()| caller));
        counted.map_err(|why| match why {
            NotServed::Unknown => {
                tracing::warn!("request from outside with an unknown token refused");
                Refused { status: StatusCode::UNAUTHORIZED, why: "the token is not known".to_owned() }
            }
            NotServed::TooOften => Refused {
                status: StatusCode::TOO_MANY_REQUESTS,
                why: "too many requests in a minute".to_owned(),
            },
        })
    }

    fn link(&self, caller: &Caller) -> StoreLink {
        StoreLink::new(Arc::clone(&self.store), Arc::clone(&self.clock), &caller.name, caller.owner.clone())
    }
}

/// Why nothing was done, for the caller.
struct Refused {
    status: StatusCode,
    why: String,
}

impl Refused {
    const NOT_THERE: Self = Self { status: StatusCode::NOT_FOUND, why: String::new() };

    fn response(self) -> Response {
        (self.status, Json(json!({ "error": self.why }))).into_response()
    }
}

impl From<LinkError> for Refused {
    fn from(error: LinkError) -> Self {
        let status = match &error {
            LinkError::Unreachable(_) => StatusCode::SERVICE_UNAVAILABLE,
            LinkError::Refused(_) => StatusCode::NOT_FOUND,
            LinkError::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        };
        Self { status, why: error.to_string() }
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body)
        .map_err(|error| Refused { status: StatusCode::UNPROCESSABLE_ENTITY, why: error.to_string() })
}

fn named(id: &str) -> Result<SessionId, Refused> {
    id.parse().map_err(|_| Refused::NOT_THERE)
}

fn key(text: &str) -> Result<(), Refused> {
    let fits =
        (8..=MAX_KEY_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let why = "a nonce or a key is 8 to 128 letters and digits".to_owned();
    if fits { Ok(()) } else { Err(Refused { status: StatusCode::UNPROCESSABLE_ENTITY, why }) }
}
