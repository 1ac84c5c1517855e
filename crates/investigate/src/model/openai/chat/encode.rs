//! A conversation as chat messages.

use serde_json::{Map, Value, json};

use crate::model::history::{HistoryEntry, entries, id, name};
use crate::model::{Ask, Call, ToolSpec, call};

/// What a request says besides the conversation.
#[derive(Debug, Clone, Copy)]
pub(in crate::model::openai) struct Frame<'a> {
    pub(in crate::model::openai) model: &'a str,
    /// The word for the most tokens of an answer.
    pub(in crate::model::openai) limit: &'static str,
    /// Leads requests with the same beginning to the same cache.
    pub(in crate::model::openai) cache_key: Option<&'a str>,
}

/// Returns the body of a request.
pub(in crate::model::openai) fn body(ask: &Ask, frame: Frame<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(frame.model));
    body.insert("messages".to_owned(), messages(ask));
    body.insert(frame.limit.to_owned(), json!(ask.max_output_tokens));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    if !ask.tools.is_empty() {
        body.insert("tools".to_owned(), ask.tools.iter().map(tool).collect());
    }
    if let Some(key) = frame.cache_key {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    Value::Object(body)
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}

fn messages(ask: &Ask) -> Value {
    let mut messages = Vec::new();
    if !ask.system.is_empty() {
        messages.push(json!({ "role": "system", "content": ask.system }));
    }
    for step in entries(&ask.messages) {
        match step {
            HistoryEntry::User(text) => messages.push(json!({ "role": "user", "content": text })),
            HistoryEntry::Turn(turn) => {
                messages.extend(assistant(turn.text, turn.calls));
                messages.extend(turn.outcomes.iter().map(|outcome| {
                    json!({ "role": "tool", "tool_call_id": id(&outcome.call.id), "content": outcome.content })
                }));
            }
        }
    }
    Value::Array(messages)
}

/// Returns the message of a turn; nothing for a silent one, which servers refuse.
fn assistant(text: &str, calls: &[Call]) -> Option<Value> {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    if !text.is_empty() {
        message.insert("content".to_owned(), json!(text));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.iter().map(tool_call).collect());
    }
    (message.len() > 1).then_some(Value::Object(message))
}

/// Some servers take the arguments apart again, and fail over those that are no object.
fn tool_call(call: &Call) -> Value {
    json!({
        "id": id(&call.id),
        "type": "function",
        "function": { "name": name(&call.tool), "arguments": call::object(&call.arguments).to_string() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, ToolResult};

    #[test]
    fn a_conversation_keeps_calls_and_answers_together() {
        let call =
            |id: &str, arguments: Value| Call { id: id.to_owned(), tool: "look".to_owned(), arguments };
        let result = |id: &str| ToolResult {
            id: id.to_owned(),
            tool: "look".to_owned(),
            content: "{}".to_owned(),
            is_error: false,
        };
        let turn = |text: &str, calls| Message::Assistant { text: text.to_owned(), calls, carry: None };
        let ask = Ask {
            turn: 2,
            system: "Be short.".to_owned(),
            tools: Vec::new(),
            messages: vec![
                Message::User { text: "one".to_owned() },
                turn("", vec![call("a", json!({"x": 1})), call("b", json!("["))]),
                Message::Results { results: vec![result("a"), result("b")] },
                turn("", Vec::new()),
                turn("So.", Vec::new()),
                Message::User { text: "two".to_owned() },
            ],
            max_output_tokens: 9,
            fruitless: 0,
            shortened: 0,
        };
        let call = |id: &str, arguments: &str| {
            json!({ "id": id, "type": "function",
            "function": { "name": "look", "arguments": arguments } })
        };
        let expected = json!({
            "model": "m", "max_tokens": 9, "stream": true, "stream_options": { "include_usage": true },
            "messages": [
                { "role": "system", "content": "Be short." },
                { "role": "user", "content": "one" },
                { "role": "assistant", "tool_calls": [call("a", "{\"x\":1}"), call("b", "{\"not_an_object\":\"[\"}")] },
                { "role": "tool", "tool_call_id": "a", "content": "{}" },
                { "role": "tool", "tool_call_id": "b", "content": "{}" },
                { "role": "assistant", "content": "So." },
                { "role": "user", "content": "two" },
            ],
        });
        assert_eq!(body(&ask, Frame { model: "m", limit: "max_tokens", cache_key: None }), expected);
    }
}
