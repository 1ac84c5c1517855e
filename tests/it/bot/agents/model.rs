//! A stand-in for the providers of both agents: it plays turns from a list, and keeps what it was sent last.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// One call of a turn.
#[derive(Debug, Clone)]
pub(super) enum Call {
    /// A shell command.
    Shell(String),
    /// Another tool, by its own name.
    Tool(&'static str, Value),
    /// A tool of an MCP server.
    Mcp(&'static str, &'static str, Value),
    /// A tool of Codex that takes a text.
    Text(&'static str, String),
}

/// Makes a turn of one shell command.
pub(super) fn shell(command: impl Into<String>) -> Vec<Call> {
    vec![Call::Shell(command.into())]
}

#[derive(Default)]
struct Played {
    turns: Vec<Vec<Call>>,
    next: usize,
    last: String,
}

/// A model that listens.
pub(super) struct Model {
    pub(super) url: String,
    played: Arc<Mutex<Played>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Model {
    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and waits for it")]
    pub(super) async fn new(turns: Vec<Vec<Call>>) -> Self {
        let played = Arc::new(Mutex::new(Played { turns, ..Played::default() }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&played));
        let task = tokio::spawn(async move {
            let stop = async { drop(stopped.await) };
            let (vitals, patience) =
                (ghost_agent::http::Vitals::default(), ghost_agent::http::Patience::default());
            ghost_agent::http::serve(listener, router, vitals, patience, stop).await;
        });
        Self { url, played, stop, task }
    }

    /// Ends it, and returns the whole conversation as it was sent last.
    pub(super) async fn end(self) -> String {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
        let played = self.played.lock().unwrap();
        assert!(played.next >= played.turns.len(), "the agent ended after {} turns", played.next);
        played.last.clone()
    }
}

async fn answer(State(played): State<Arc<Mutex<Played>>>, uri: Uri, body: Bytes) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let has_tools = asked["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let turn = || {
        let mut played = played.lock().unwrap();
        // A title, a summary or a probe is no turn.
        if !has_tools {
            return (0, Vec::new());
        }
        played.last = String::from_utf8_lossy(&body).into_owned();
        let turn = played.turns.get(played.next).cloned().unwrap_or_default();
        played.next += 1;
        (played.next, turn)
    };
    let path = uri.path();
    let events = if path.ends_with("/messages") {
        let (number, calls) = turn();
        messages(number, &calls)
    } else if path.ends_with("/responses") {
        let (number, calls) = turn();
        responses(number, &calls)
    } else {
        return axum::Json(json!({"input_tokens": 1, "data": [], "models": []})).into_response();
    };
    let text: String = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect();
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// A turn in the words of the Messages API.
fn messages(number: usize, calls: &[Call]) -> Vec<Value> {
    let parts: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            let (name, input) = match call {
                Call::Shell(command) => {
                    ("Bash".to_owned(), json!({"command": command, "description": "because"}))
                }
                Call::Tool(name, input) => ((*name).to_owned(), input.clone()),
                Call::Mcp(server, tool, input) => (format!("mcp__{server}__{tool}"), input.clone()),
                Call::Text(name, text) => ((*name).to_owned(), json!({"input": text})),
            };
            json!({"type": "tool_use", "id": format!("toolu_{number}_{at}"), "name": name, "input": input})
        })
        .collect();
    let stop = if parts.is_empty() { "end_turn" } else { "tool_use" };
    let message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let words = json!({"type": "text", "text": ""});
    let said = json!({"type": "text_delta", "text": "done"});
    let mut block = |index: usize, start: Value, delta: Value| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    if parts.is_empty() {
        block(0, words, said);
    }
    for (index, mut part) in parts.into_iter().enumerate() {
        let input = part["input"].take();
        part["input"] = json!({});
        block(index, part, json!({"type": "input_json_delta", "partial_json": input.to_string()}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// A turn in the words of the Responses API.
fn responses(number: usize, calls: &[Call]) -> Vec<Value> {
    let mut items: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            let (id, call_id) = (format!("fc_{number}_{at}"), format!("call_{number}_{at}"));
            let function = |name: &str, input: &Value| {
                json!({"type": "function_call", "id": id, "call_id": call_id, "status": "completed", "name": name, "arguments": input.to_string()})
            };
            match call {
                Call::Shell(command) => function("exec_command", &json!({"cmd": command})),
                Call::Tool(name, input) => function(name, input),
                Call::Mcp(server, tool, input) => {
                    let mut call = function(tool, input);
                    call["namespace"] = json!(format!("mcp__{server}"));
                    call
                }
                Call::Text(name, text) => {
                    json!({"type": "custom_tool_call", "id": id, "call_id": call_id, "status": "completed", "name": name, "input": text})
                }
            }
        })
        .collect();
    if items.is_empty() {
        let part = json!({"type": "output_text", "text": "done", "annotations": []});
        items.push(json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed", "content": [part]}));
    }
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": format!("resp_{number}"), "object": "response", "status": status, "model": "stand-in", "output": output,
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
        })
    };
    let mut events = vec![json!({"type": "response.created", "response": response("in_progress", &[])})];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": response("completed", &items)}));
    events
}
