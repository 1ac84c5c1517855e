//! `/api/METHOD`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::deliver::FaultEffect;
use crate::server::Inner;
use crate::state::{Args, Method, SlackError, Token, method};
use crate::web::arguments::arguments;

/// The method that returns the address of a socket.
const CONNECT: &str = "apps.connections.open";

/// Answers a call of the Web API.
pub(crate) async fn call(
    State(inner): State<Arc<Inner>>,
    Path(name): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (args, warning) = match arguments(&uri, &headers, body).await {
        Ok(read) => read,
        Err(error) => return refusal(&error),
    };
    let channel = args.text("channel").or_else(|| args.text("channel_id"));
    let hit = inner.faults().take(&name, channel.as_deref());
    match hit {
        None => {}
        Some(FaultEffect::RateLimit(seconds)) => return too_many(seconds),
        Some(FaultEffect::Status(status)) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return (status, "upstream error\n").into_response();
        }
        Some(FaultEffect::Refusal(code)) => return refusal(&SlackError::new(&code)),
        Some(FaultEffect::Delay(millis)) => sleep(Duration::from_millis(millis)).await,
    }
    let Some(method) = method(&name) else {
        let error = SlackError::new("unknown_method").beside("req_method", name.clone());
        inner.journal().called("", &name, &args, &error.body());
        return refusal(&error);
    };
    let app = match identify(&inner, &method, &headers, &args) {
        Ok(app) => app,
        Err(error) => {
            inner.journal().called("", &name, &args, &error.body());
            return refusal(&error);
        }
    };
    let done = inner.act(|workspace, now| {
        let app = app.as_deref().unwrap_or_default();
        if let Some(seconds) = workspace.limits.call(app, method.name, method.tier, channel.as_deref(), now) {
            return Err(Some(seconds));
        }
        let done = match method.token {
            Token::None => Ok(tested(&args)),
            Token::App if method.name == CONNECT => Ok(Value::Null),
            Token::Bot | Token::App => {
                let permitted = workspace.permitted(app, &method, &args);
                permitted.and_then(|()| workspace.call(app, method.name, &args, now))
            }
        };
        let scopes = workspace.app(app).map(|app| app.scopes.join(",")).unwrap_or_default();
        let accepted = workspace.accepted(&method, &args).join(",");
        let scopes = [("x-oauth-scopes", scopes), ("x-accepted-oauth-scopes", accepted)];
        Ok::<_, Option<u64>>((done.map_err(|error| error.body()), scopes))
    });
    let (done, scopes) = match done {
        Ok(done) => done,
        Err(seconds) => return too_many(seconds.unwrap_or(1)),
    };
    let mut body = match (method.name, &app) {
        (CONNECT, Some(app)) => connection(&inner, app),
        _ => done.unwrap_or_else(|refused| refused),
    };
    inner.journal().called(app.as_deref().unwrap_or_default(), method.name, &args, &body);
    if let Some(warning) = warning {
        warn(&mut body, warning);
    }
    let mut response = answer(&body);
    for (name, scopes) in scopes.into_iter().filter(|(_, scopes)| !scopes.is_empty()) {
        if let Ok(scopes) = HeaderValue::from_str(&scopes) {
            response.headers_mut().insert(name, scopes);
        }
    }
    response
}

/// Finds the app that calls, by the token in the header or among the arguments.
fn identify(
    inner: &Inner,
    method: &Method,
    headers: &HeaderMap,
    args: &Args,
) -> Result<Option<String>, SlackError> {
    if method.token == Token::None {
        return Ok(None);
    }
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = header.and_then(|value| value.strip_prefix("Bearer ")).map(|token| token.trim().to_owned());
    let token = bearer.or_else(|| args.text("token")).filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| SlackError::new("not_authed"))?;
    let workspace = inner.workspace();
    let (bot, own) = (workspace.app_of_bot_token(&token), workspace.app_of_app_token(&token));
    match (method.token, bot, own) {
        (Token::Bot, Some(app), _) | (Token::App, _, Some(app)) => Ok(Some(app.id.clone())),
        (_, None, None) => Err(SlackError::new("invalid_auth")),
        _ => Err(SlackError::new("not_allowed_token_type")),
    }
}

/// `api.test`
fn tested(args: &Args) -> Value {
    match args.text("error") {
        Some(error) => json!({"ok": false, "error": error, "args": args.0}),
        None => json!({"ok": true, "args": args.0}),
    }
}

/// `apps.connections.open`
fn connection(inner: &Inner, app: &str) -> Value {
    let (ticket, base, http) = {
        let mut workspace = inner.workspace();
        let http = workspace.app(app).is_ok_and(|app| app.request_url.is_some());
        (workspace.unguessable(), workspace.base.clone(), http)
    };
    if http {
        return SlackError::new("socket_mode_not_enabled").body();
    }
    let place = base.strip_prefix("http").unwrap_or(&base);
    inner.sockets().admit(ticket.clone(), app, Instant::now());
    json!({"ok": true, "url": format!("ws{place}/link/?ticket={ticket}&app_id={app}")})
}

/// An answer of a method, whether it says yes or no.
pub(crate) fn answer(body: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
    (kind, [(header::CACHE_CONTROL, "no-store")], body.to_string()).into_response()
}

/// A refusal of a method, which is an answer too.
pub(crate) fn refusal(error: &SlackError) -> Response {
    answer(&error.body())
}

/// The refusal of a call that came too early.
pub(crate) fn too_many(seconds: u64) -> Response {
    let mut response = refusal(&SlackError::new("ratelimited"));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Adds a warning to an answer that says yes, beside those that are there.
pub(crate) fn warn(body: &mut Value, warning: &str) {
    if body.get("ok") != Some(&Value::Bool(true)) {
        return;
    }
    let Some(map) = body.as_object_mut() else { return };
    let before = map.get("warning").and_then(Value::as_str).map(|before| format!("{before},{warning}"));
    map.insert("warning".to_owned(), json!(before.unwrap_or_else(|| warning.to_owned())));
    let metadata = map.entry("response_metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        let warnings = metadata.entry("warnings").or_insert_with(|| json!([]));
        if let Some(list) = warnings.as_array_mut() {
            list.push(json!(warning));
        }
    }
}
