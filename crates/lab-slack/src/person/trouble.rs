//! Trouble on demand, and how the app is set up.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::deliver::verify_url;
use crate::person::act::{object, reply, well};
use crate::server::Inner;
use crate::state::{Args, Notice, SlackError};

/// `POST /lab/fault`
pub(crate) async fn fault(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    reply(object(&headers, &body).and_then(|args| happen(&inner, &args)).map(|()| well()))
}

fn happen(inner: &Arc<Inner>, args: &Args) -> Result<(), SlackError> {
    let kind = args.need("kind")?;
    let count = args.number("count").unwrap_or(1);
    match kind.as_str() {
        "cut" => inner.sockets().cut(),
        "refresh" => refresh(inner, args.flag("at_once").unwrap_or(false)),
        "silence" => {
            let millis = args.number("millis").unwrap_or_else(|| args.number("seconds").unwrap_or(20) * 1000);
            inner.silence.send_replace(Some(Instant::now() + Duration::from_millis(millis.min(3_600_000))));
        }
        "duplicate" => inner.faults().duplicates += count,
        "reorder" => inner.faults().swaps += count,
        "redeliver" => redeliver(inner, args),
        "tiers" => inner.workspace().limits.kept = args.flag("on").unwrap_or(true),
        "grid" => inner.act(|workspace, _| workspace.grid = args.flag("on").unwrap_or(true)),
        "clear" => {
            inner.faults().clear();
            inner.silence.send_replace(None);
            inner.workspace().limits.kept = false;
        }
        _ => inner.faults().add(&kind, args)?,
    }
    Ok(())
}

/// Asks every connection to refresh: warned first, asked then, ended last.
fn refresh(inner: &Arc<Inner>, at_once: bool) {
    let numbers = inner.sockets().warn();
    if at_once {
        inner.sockets().refresh(&numbers);
    }
    let own = Arc::clone(inner);
    inner.spawn(async move {
        if !at_once {
            sleep(own.timing.warning).await;
            own.sockets().refresh(&numbers);
        }
        sleep(own.timing.drain).await;
        own.sockets().end(&numbers);
    });
}

/// Delivers events of late once more, as the last retry would.
fn redeliver(inner: &Arc<Inner>, args: &Args) {
    let named = args.text("event_id");
    let count = usize::try_from(args.number("count").unwrap_or(1)).unwrap_or(1);
    let meant = |payload: &Value| match &named {
        Some(id) => payload.get("event_id").and_then(Value::as_str) == Some(id),
        None => true,
    };
    let recent = inner.recent();
    let skipped = recent.iter().filter(|(_, payload)| meant(payload)).count().saturating_sub(count);
    let again: Vec<(String, Value)> =
        recent.iter().filter(|(_, payload)| meant(payload)).skip(skipped).cloned().collect();
    drop(recent);
    for (app, payload) in again {
        inner.dispatch(app, payload, Some(inner.timing.retries.len()));
    }
}

/// `POST /lab/app`: where the app takes its events, what it may do, what it asked for.
pub(crate) async fn app(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    let done = match object(&headers, &body) {
        Ok(args) => set_up(&inner, &args).await,
        Err(error) => Err(error),
    };
    reply(done)
}

async fn set_up(inner: &Arc<Inner>, args: &Args) -> Result<Value, SlackError> {
    let (id, secret, token) = {
        let workspace = inner.workspace();
        let named = args.text("app");
        let app = workspace.apps.iter().find(|app| named.as_ref().is_none_or(|name| *name == app.id));
        let app = app.ok_or_else(|| SlackError::new("app_not_found"))?;
        (app.id.clone(), app.signing_secret.clone(), app.verification_token.clone())
    };
    if let Some(url) = args.text("request_url") {
        let challenge = inner.workspace().unguessable();
        let now = inner.clock.now();
        let within = inner.timing.acknowledge;
        if !verify_url(&inner.carrier, &url, &secret, &token, &challenge, now, within).await {
            return Err(SlackError::new("url_verification_failed"));
        }
    }
    inner.act(|workspace, _| {
        let Some(app) = workspace.apps.iter_mut().find(|app| app.id == id) else {
            return Err(SlackError::new("app_not_found"));
        };
        let has = |name: &str| args.0.contains_key(name);
        // Null takes an address away: then it is sockets again.
        for (name, place) in [
            ("request_url", &mut app.request_url),
            ("interactivity_url", &mut app.interactivity_url),
            ("command_url", &mut app.command_url),
        ] {
            if has(name) {
                *place = args.text(name);
            }
        }
        if has("scopes") {
            app.scopes = args.names("scopes");
        }
        if has("events") {
            app.events =
                args.0.get("events").is_some_and(|events| !events.is_null()).then(|| args.names("events"));
        }
        if let Some(command) = args.text("command") {
            app.command = command;
        }
        let form = app.form();
        workspace.notice(Notice::of("all"));
        Ok(form)
    })
}
