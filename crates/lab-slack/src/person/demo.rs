//! What a person orders that is no talk: the play beside the conversation.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::demo::OrderOutcome;
use crate::person::act::{object, reply, said};
use crate::server::Inner;
use crate::state::{Args, Notice, SlackError};

/// `GET /lab/play`: what can be ordered, and what is on; nothing where nothing is played.
pub(crate) async fn demo_state(State(inner): State<Arc<Inner>>) -> Response {
    reply(Ok(match inner.demo.get() {
        Some(demo) => json!({"ok": true, "play": demo.look().await}),
        None => json!({"ok": true, "play": null}),
    }))
}

/// `POST /lab/play`: does it, and says to the app what is to be said.
pub(crate) async fn demo(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    said(ordered(&inner, object(&headers, &body)).await)
}

async fn ordered(inner: &Arc<Inner>, args: Result<Args, SlackError>) -> Result<Value, SlackError> {
    let Args(order) = args?;
    let Some(demo) = inner.demo.get() else { return Err(SlackError::new("nothing_is_played")) };
    let user = order.get("user").cloned().unwrap_or_default();
    let (channel, app) = whom(inner, &user)?;
    let done = demo.order(&Value::Object(order)).await;
    let OrderOutcome { summary, mention, suggested } = match done {
        Ok(done) => done,
        Err(why) => return Ok(json!({"ok": false, "error": "refused", "why": why.to_string()})),
    };
    let mut answer =
        json!({"ok": true, "told": summary, "suggested": suggested, "channel": channel, "app": app});
    if let Some(mention) = mention {
        let fields = [
            ("user", user),
            ("channel", Value::from(channel)),
            ("text", Value::from(format!("@{app} {mention}"))),
        ];
        let fields: Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let written = inner.act(|workspace, now| workspace.write(&Args(fields), now))?;
        if let (Some(answer), Some(ts)) = (answer.as_object_mut(), written.get("ts")) {
            answer.insert("ts".to_owned(), ts.clone());
        }
    }
    inner.notify(Notice::of("play"));
    Ok(answer)
}

/// Returns where the first app is spoken with, and by which name. Whoever is not there orders nothing: it is looked at before
/// anything is done.
fn whom(inner: &Inner, user: &Value) -> Result<(String, String), SlackError> {
    let workspace = inner.workspace();
    let app = workspace.apps.first().ok_or_else(|| SlackError::new("app_not_found"))?;
    let place = workspace.channels.values().find(|channel| channel.members.contains(&app.bot_user));
    let place = place.ok_or_else(|| SlackError::new("channel_not_found"))?;
    let there = user.as_str().is_some_and(|user| place.members.iter().any(|member| member == user));
    if !there {
        return Err(SlackError::new("not_in_channel"));
    }
    let name = workspace.users.get(&app.bot_user).map(|user| user.name.clone());
    Ok((place.id.clone(), name.unwrap_or_default()))
}
