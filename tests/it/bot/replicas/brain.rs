//! Who thinks: a server that speaks like a provider. What a session does follows from the words that it was opened with.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::session::world::{conclude, run, suppose};

/// A command that only reads.
const LOOK: &str = "cat /proc/net/dev";
/// In its place stands the number of the session.
pub(super) const NUMBER: &str = "NUMBER";

/// The server.
pub(super) struct Brain {
    pub(super) url: String,
    /// It is dropped with the stage.
    _serving: JoinSet<()>,
}

/// What sessions do, a turn a line.
struct Plans {
    plans: HashMap<&'static str, Vec<String>>,
    /// How long a thought takes in a session that only reads.
    thinks: Duration,
}

impl Brain {
    /// Listens. Sessions that are `busy` look so often and think so long each time; those that `wait` ask a human whether they may run
    /// the command, in which their number stands for [`NUMBER`].
    pub(super) async fn start(context: usize, thinks: Duration, command: &str) -> Self {
        let busy = std::iter::once(suppose())
            .chain(std::iter::repeat_n(run(LOOK), context))
            .chain([conclude("REFUTED")])
            .collect();
        let wait = vec![suppose(), run(command), conclude("REFUTED")];
        let plans = HashMap::from([("busy", busy), ("wait", wait)]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let state = std::sync::Arc::new(Plans { plans, thinks });
        let router = Router::new().route("/v1/chat/completions", post(think)).with_state(state);
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, _serving: serving }
    }
}

async fn think(State(plans): State<std::sync::Arc<Plans>>, Json(asked): Json<Value>) -> Response {
    let messages = asked["messages"].as_array().cloned().unwrap_or_default();
    let turn = messages.iter().filter(|message| message["role"] == "assistant").count();
    let said = asked["messages"].to_string();
    let kind = if said.contains("crowd-busy") { "busy" } else { "wait" };
    if kind == "busy" && turn > 0 {
        tokio::time::sleep(plans.thinks).await;
    }
    let lines = plans.plans.get(kind).unwrap();
    let number: String = said
        .split("crowd-wait-")
        .nth(1)
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let line = lines.get(turn).or(lines.last()).unwrap().replace(NUMBER, &number);
    let line: Value = serde_json::from_str(&line).unwrap();
    let calls: Vec<Value> = line["calls"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(at, call)| {
            json!({"index": at, "id": format!("call_{turn}_{at}"), "type": "function",
                "function": {"name": call["tool"], "arguments": call["arguments"].to_string()}})
        })
        .collect();
    let chunk = |delta: &Value, reason: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "usage": null,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let call = chunk(&json!({"role": "assistant", "tool_calls": calls}), Value::Null);
    let end = chunk(&json!({}), json!("tool_calls"));
    let usage =
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}});
    let text = format!("data: {call}\n\ndata: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
    ([(CONTENT_TYPE, "text/event-stream; charset=utf-8")], text).into_response()
}
