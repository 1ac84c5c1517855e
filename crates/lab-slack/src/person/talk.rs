//! What a person does that an app has to acknowledge.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio::time::{Instant, timeout_at};

use crate::deliver::AppAnswer;
use crate::person::act::{object, said, well};
use crate::server::Inner;
use crate::state::{Args, Interaction, Notice, SlackError, offered};

/// Turns the outcome of an interaction into the answer for the person.
fn answer_of(answered: AppAnswer) -> Result<Value, SlackError> {
    match answered {
        AppAnswer::Yes(answer) => Ok(answer),
        AppAnswer::TooLate => Err(SlackError::new("operation_timeout")),
        AppAnswer::Nobody => Err(SlackError::new("dispatch_failed")),
    }
}

/// `POST /lab/press`
pub(crate) async fn press(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    said(pressed(&inner, object(&headers, &body)).await)
}

async fn pressed(inner: &Arc<Inner>, args: Result<Args, SlackError>) -> Result<Value, SlackError> {
    let args = args?;
    let interaction = inner.act(|workspace, now| workspace.press(&args, now))?;
    seen(inner, &interaction, &args).await
}

/// `POST /lab/shortcut`
pub(crate) async fn shortcut(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    said(taken(&inner, object(&headers, &body)).await)
}

async fn taken(inner: &Arc<Inner>, args: Result<Args, SlackError>) -> Result<Value, SlackError> {
    let args = args?;
    let interaction = inner.act(|workspace, now| workspace.shortcut(&args, now))?;
    seen(inner, &interaction, &args).await
}

/// Asks the app, and waits for the view that it may open.
async fn seen(inner: &Arc<Inner>, interaction: &Interaction, args: &Args) -> Result<Value, SlackError> {
    let mut notices = inner.notices();
    let wait = args.number("wait_ms").map_or(inner.timing.view, Duration::from_millis).min(inner.timing.view);
    let deadline = Instant::now() + wait;
    answer_of(inner.ask(interaction).await)?;
    let mut answer = well();
    if let Some(view) = opened(inner, &interaction.trigger, &mut notices, deadline).await
        && let Some(map) = answer.as_object_mut()
    {
        map.insert("view".to_owned(), view);
    }
    Ok(answer)
}

async fn opened(
    inner: &Inner,
    trigger: &str,
    notices: &mut broadcast::Receiver<Notice>,
    deadline: Instant,
) -> Option<Value> {
    loop {
        {
            let workspace = inner.workspace();
            let view = workspace.triggers.get(trigger).and_then(|trigger| trigger.opened.as_deref());
            if let Some(view) = view.and_then(|id| workspace.modal(id).ok()) {
                return Some(view.form(&workspace));
            }
        }
        // Whatever changed, it may have been the view; what was missed may have been it too.
        drop(timeout_at(deadline, notices.recv()).await.ok()?);
    }
}

/// `POST /lab/options`: what a person types into a menu, and what the app offers for it.
pub(crate) async fn options(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    said(suggested(&inner, object(&headers, &body)).await)
}

async fn suggested(inner: &Arc<Inner>, args: Result<Args, SlackError>) -> Result<Value, SlackError> {
    let args = args?;
    match inner.act(|workspace, now| workspace.suggest(&args, now))? {
        Some(interaction) => offered(&answer_of(inner.ask(&interaction).await)?),
        None => Ok(json!({"ok": true, "options": []})),
    }
}

/// `POST /lab/submit`
pub(crate) async fn submit(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    said(submitted(&inner, object(&headers, &body)).await)
}

async fn submitted(inner: &Arc<Inner>, args: Result<Args, SlackError>) -> Result<Value, SlackError> {
    let args = args?;
    let wrong = |errors: Map<String, Value>| json!({"ok": false, "errors": errors});
    let interaction = match inner.act(|workspace, now| workspace.submit(&args, now))? {
        Ok(interaction) => interaction,
        Err(errors) => return Ok(wrong(errors)),
    };
    let answer = answer_of(inner.ask(&interaction).await)?;
    let view = args.need("view_id")?;
    let errors = inner.act(|workspace, now| workspace.submitted(&view, &answer, now))?;
    Ok(if errors.is_empty() { well() } else { wrong(errors) })
}

/// `POST /lab/close`
pub(crate) async fn close(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    said(closed(&inner, object(&headers, &body)).await)
}

async fn closed(inner: &Arc<Inner>, args: Result<Args, SlackError>) -> Result<Value, SlackError> {
    let args = args?;
    if let Some(interaction) = inner.act(|workspace, now| workspace.close(&args, now))? {
        answer_of(inner.ask(&interaction).await)?;
    }
    Ok(well())
}

/// `POST /lab/command`
pub(crate) async fn command(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    said(commanded(&inner, object(&headers, &body)).await)
}

async fn commanded(inner: &Arc<Inner>, args: Result<Args, SlackError>) -> Result<Value, SlackError> {
    let args = args?;
    let interaction = inner.act(|workspace, now| workspace.command(&args, now))?;
    let answer = answer_of(inner.ask(&interaction).await)?;
    let text =
        |name: &str| interaction.payload.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (user, channel) = (text("user_id"), text("channel_id"));
    inner.act(|workspace, now| workspace.commanded(&interaction.app, &user, &channel, &answer, now))?;
    Ok(well())
}
