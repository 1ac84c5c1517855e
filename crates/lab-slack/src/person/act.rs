//! What a person does and views without an answer of an app.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Multipart, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};

use crate::server::Inner;
use crate::state::{Args, SlackError};
use crate::web;

const DOCUMENTATION: &str = include_str!("documentation.md");
const FIDELITY: &str = include_str!("fidelity.md");

/// `GET /lab/`: what can be called here.
pub(crate) async fn documentation() -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], DOCUMENTATION).into_response()
}

/// `GET /lab/fidelity`: how much of Slack is here.
pub(crate) async fn fidelity() -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], FIDELITY).into_response()
}

fn args(query: HashMap<String, String>) -> Args {
    let fields: Map<String, Value> =
        query.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    Args(fields)
}

/// `GET /lab/state`, `/lab/channel`, `/lab/thread`, `/lab/view`, `/lab/home`, `/lab/left`, `/lab/journal`,
/// `/lab/acknowledged`
pub(crate) async fn look(
    State(inner): State<Arc<Inner>>,
    Path(what): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    if what == "journal" {
        return reply(Ok(inner.journal().form()));
    }
    if what == "acknowledged" {
        return reply(Ok(inner.sockets().acknowledged()));
    }
    let args = args(query);
    let workspace = inner.workspace();
    let seen = match what.as_str() {
        "state" => workspace.state(&args),
        "channel" => workspace.seen_channel(&args),
        "thread" => workspace.seen_thread(&args),
        "view" => workspace.seen_view(&args),
        "home" => workspace.seen_home(&args),
        "left" => workspace.left(&args),
        _ => Err(SlackError::new("unknown_method")),
    };
    drop(workspace);
    reply(seen.map(|seen| match what.as_str() {
        "state" => connected(&inner, seen),
        "thread" => annotated(&inner, seen),
        _ => seen,
    }))
}

/// Adds what the state itself does not know: whether anybody speaks for an app, over a socket or at an address, and what a
/// newcomer could say first.
fn connected(inner: &Inner, mut state: Value) -> Value {
    let sockets = inner.sockets();
    for app in state.get_mut("apps").and_then(Value::as_array_mut).into_iter().flatten() {
        let field = |name: &str| app.get(name).and_then(Value::as_str).unwrap_or_default();
        let there = field("transport") == "http" || sockets.of(field("id")) > 0;
        if let Some(app) = app.as_object_mut() {
            app.insert("connected".to_owned(), Value::Bool(there));
        }
    }
    if let (Some(state), Some(demo)) = (state.as_object_mut(), inner.demo.get()) {
        state.insert("opening".to_owned(), Value::from(demo.opening()));
        state.insert("plays".to_owned(), Value::Bool(true));
    }
    state
}

/// Adds what is to be known about the place that is played in.
fn annotated(inner: &Inner, mut seen: Value) -> Value {
    let note = inner.demo.get().and_then(|demo| demo.note());
    if let (Some(seen), Some(note)) = (seen.as_object_mut(), note) {
        seen.insert("note".to_owned(), Value::from(note));
    }
    seen
}

/// `POST /lab/message` and whatever else a person does without an app having to say something.
pub(crate) async fn act(
    State(inner): State<Arc<Inner>>,
    Path(what): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let args = match object(&headers, &body) {
        Ok(args) => args,
        Err(error) => return reply(Err(error)),
    };
    reply(inner.act(|workspace, now| match what.as_str() {
        "message" => workspace.write(&args, now),
        "raw" => workspace.write_raw(&args, now),
        "edit" => workspace.rewrite(&args, now),
        "delete" => workspace.unwrite(&args, now),
        "reaction" => workspace.person_reacts(&args, now),
        "open" => workspace.open_direct(&args, now),
        "home" => workspace.open_home(&args, now),
        "stop" => workspace.person_stops(&args, now),
        "leave" => workspace.person_leaves(&args, now),
        "context" => workspace.person_views(&args, now),
        "assistant" => workspace.person_assists(&args, now),
        "install" => workspace.install(&args, now),
        _ => Err(SlackError::new("unknown_method")),
    }))
}

/// `POST /lab/upload`: a form with `user`, perhaps `channel`, `text` and `thread_ts`, and last the `file`.
pub(crate) async fn upload(State(inner): State<Arc<Inner>>, mut form: Multipart) -> Response {
    let mut fields = Map::new();
    while let Ok(Some(field)) = form.next_field().await {
        let name = field.name().unwrap_or_default().to_owned();
        if name != "file" {
            let Ok(text) = field.text().await else { break };
            fields.insert(name, Value::String(text));
            continue;
        }
        let called = field.file_name().unwrap_or("file").to_owned();
        fields.insert("name".to_owned(), Value::String(called));
        let Ok(bytes) = field.bytes().await else { break };
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let shared = inner.act(|workspace, now| workspace.person_shares(&Args(fields), size, now));
        return reply(shared.map(|(answer, id)| {
            inner.bytes().insert(id, bytes);
            answer
        }));
    }
    reply(Err(SlackError::missing("file")))
}

/// `GET /lab/file?id=`
pub(crate) async fn file(
    State(inner): State<Arc<Inner>>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let id = query.get("id").map(String::as_str).unwrap_or_default();
    web::bytes(&inner, id, query.get("user").map(String::as_str))
}

/// Reads the object of a call. A form of another page cannot send this type without being asked for leave first.
pub(crate) fn object(headers: &HeaderMap, body: &Bytes) -> Result<Args, SlackError> {
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.trim().to_ascii_lowercase().starts_with("application/json") {
        return Err(SlackError::new("invalid_post_type"));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(map)) => Ok(Args(map)),
        Ok(_) => Err(SlackError::new("json_not_object")),
        Err(_) => Err(SlackError::new("invalid_json")),
    }
}

/// Answers, a refusal as 400.
pub(crate) fn reply(done: Result<Value, SlackError>) -> Response {
    match done {
        Ok(body) => Json(body).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, Json(error.body())).into_response(),
    }
}

/// Answers what the app had its say in: a refusal is an answer like any other.
pub(crate) fn said(done: Result<Value, SlackError>) -> Response {
    Json(done.unwrap_or_else(|error| error.body())).into_response()
}

/// The answer that everything went well.
pub(crate) fn well() -> Value {
    json!({"ok": true})
}
