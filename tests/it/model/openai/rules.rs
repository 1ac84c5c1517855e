//! What OpenAI's documentation says about requests in both dialects, and how answers are written.

use serde_json::{Value, json};

use crate::model::gemini::rules::{at, demand, list, only};
use crate::model::server::{Reply, Seen};

/// An error as OpenAI writes it.
pub(in crate::model) fn error(status: u16, code: &str, message: &str) -> Reply {
    let error = json!({ "message": message, "type": "invalid_request_error", "param": null, "code": code });
    Reply::json(status, &json!({ "error": error }))
}

/// Events of a response, cut where it hurts.
pub(in crate::model) fn events(events: &[Value], bytes: usize) -> Reply {
    let line = |(n, event): (usize, &Value)| {
        let mut event = event.clone();
        if let Some(event) = event.as_object_mut() {
            event.insert("sequence_number".to_owned(), json!(n));
        }
        let kind = at(&event, "/type").as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    Reply::events(&events.iter().enumerate().map(line).collect::<String>(), bytes)
}

/// Chunks of a completion with the end that OpenAI documents.
pub(in crate::model) fn chunks(chunks: &[Value], bytes: usize) -> Reply {
    let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    Reply::events(&format!("{text}data: [DONE]\n\n"), bytes)
}

/// The last event of a response.
pub(in crate::model) fn completed() -> Value {
    json!({ "type": "response.completed", "response": { "id": "resp_1", "status": "completed", "error": null,
        "incomplete_details": null, "output": [], "usage": { "input_tokens": 900,
        "input_tokens_details": { "cached_tokens": 600 }, "output_tokens": 50,
        "output_tokens_details": { "reasoning_tokens": 30 }, "total_tokens": 950 } } })
}

/// A chunk of a completion.
pub(in crate::model) fn delta(delta: &Value) -> Value {
    json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "usage": null,
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null }] })
}

/// The end of a completion, and what it used.
pub(in crate::model) fn ended(reason: &str) -> [Value; 2] {
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }], "usage": null });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 900, "completion_tokens": 50, "total_tokens": 950,
        "prompt_tokens_details": { "cached_tokens": 600 } } });
    [end, usage]
}

/// Holds a request for a response against the documentation.
pub(in crate::model) fn response_rules(seen: &Seen) -> Result<(), (String, Reply)> {
    response(seen).map_err(|fault| (fault.clone(), error(400, "invalid_value", &fault)))
}

/// Holds a request for a completion against the documentation, and against what others refuse.
pub(in crate::model) fn chat_rules(seen: &Seen) -> Result<(), (String, Reply)> {
    chat(seen).map_err(|fault| (fault.clone(), error(400, "invalid_value", &fault)))
}

fn common(seen: &Seen, path: &str) -> Result<(), String> {
    demand(seen.method == "POST", "the method is POST")?;
    let asked = seen.path.split('?').next().unwrap_or_default();
    demand(asked.ends_with(path), &format!("no such path: {asked}"))?;
    demand(!seen.path.contains("key"), "the key is in the address")?;
    demand(seen.header("content-type") == "application/json", "the body is JSON")?;
    demand(at(&seen.body, "/model").is_string(), "there is a model")?;
    demand(at(&seen.body, "/stream") == true, "the answer is streamed")
}

fn response(seen: &Seen) -> Result<(), String> {
    common(seen, "/responses")?;
    let body = &seen.body;
    let fields = [
        "model",
        "input",
        "instructions",
        "tools",
        "max_output_tokens",
        "store",
        "stream",
        "include",
        "prompt_cache_key",
    ];
    only(body, &fields)?;
    demand(body["store"] == false, "nothing is stored")?;
    demand(body["max_output_tokens"].as_u64() >= Some(16), "the limit is at least 16")?;
    let reasons = body["model"].as_str().is_some_and(|model| model.starts_with("gpt-5"));
    let included = json!(["reasoning.encrypted_content"]);
    demand(body.get("include").is_none_or(|include| *include == included), "no such thing to include")?;
    demand(reasons || body.get("include").is_none(), "Encrypted content is not supported with this model.")?;
    for tool in list(&body["tools"]) {
        only(tool, &["type", "name", "description", "parameters", "strict"])?;
        demand(tool["type"] == "function" && tool["strict"] == false, "a tool is a function")?;
        demand(at(tool, "/parameters/type") == "object", "parameters are an object")?;
    }
    items(list(&body["input"]))
}

fn items(items: &[Value]) -> Result<(), String> {
    demand(!items.is_empty(), "there is input")?;
    let mut open: Vec<&Value> = Vec::new();
    let mut reasoned = false;
    for item in items {
        let kind = item["type"].as_str().unwrap_or("message");
        demand(
            !reasoned || kind != "message" || item["role"] == "assistant",
            "reasoning lacks its following item",
        )?;
        reasoned = kind == "reasoning";
        match kind {
            "message" => {
                only(item, &["type", "id", "status", "role", "content"])?;
                demand(open.is_empty(), "No tool output found for function call")?;
                let content = &item["content"];
                demand(content.is_string() || content.is_array(), "a message has content")?;
                demand(item["role"] == "user" || item["role"] == "assistant", "no such role")?;
            }
            "function_call" => {
                only(item, &["type", "id", "status", "call_id", "name", "arguments"])?;
                demand(item["arguments"].is_string() && item["name"].is_string(), "a call has arguments")?;
                demand(is_name(&item["name"], 64), "a tool's name matches ^[a-zA-Z0-9_-]{1,64}$")?;
                demand(is_name(&item["call_id"], 64), "a call has a name of at most 64 letters")?;
                open.push(&item["call_id"]);
            }
            "function_call_output" => {
                only(item, &["type", "call_id", "output"])?;
                demand(item["output"].is_string(), "an output is a text")?;
                let place = open.iter().position(|id| **id == item["call_id"]);
                open.remove(place.ok_or("No tool call found for function call output")?);
            }
            "reasoning" => {
                only(item, &["type", "id", "summary", "encrypted_content", "status"])?;
                demand(
                    item["encrypted_content"].is_string(),
                    "Items are not persisted when store is set to false",
                )?;
            }
            other => return Err(format!("no such item: {other}")),
        }
    }
    demand(open.is_empty() && !reasoned, "No tool output found for function call")
}

fn chat(seen: &Seen) -> Result<(), String> {
    common(seen, "/chat/completions")?;
    let body = &seen.body;
    let fields = [
        "model",
        "messages",
        "tools",
        "stream",
        "stream_options",
        "max_completion_tokens",
        "max_tokens",
        "prompt_cache_key",
    ];
    only(body, &fields)?;
    demand(body["stream_options"] == json!({ "include_usage": true }), "usage is asked for")?;
    let limits = ["max_completion_tokens", "max_tokens"].iter().filter(|key| body[**key].is_u64());
    demand(limits.count() == 1, "there is one limit")?;
    for tool in list(&body["tools"]) {
        only(tool, &["type", "function"])?;
        demand(tool["type"] == "function", "a tool is a function")?;
        only(&tool["function"], &["name", "description", "parameters"])?;
        demand(at(tool, "/function/parameters/type") == "object", "parameters are an object")?;
    }
    messages(list(&body["messages"]))
}

fn messages(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&Value> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        demand(
            role == "tool" || open.is_empty(),
            "tool_calls must be followed by tool messages for each tool_call_id",
        )?;
        demand((role == "system") == (n == 0), "the system prompt comes first")?;
        match role {
            "system" | "user" => {
                only(message, &["role", "content"])?;
                demand(message["content"].is_string(), "a message has content")?;
            }
            "assistant" => {
                only(message, &["role", "content", "tool_calls"])?;
                let calls = list(&message["tool_calls"]);
                demand(!calls.is_empty() || message["content"].is_string(), "content or calls")?;
                for call in calls {
                    only(call, &["id", "type", "function"])?;
                    only(&call["function"], &["name", "arguments"])?;
                    let text = at(call, "/function/arguments").as_str().ok_or("arguments are a text")?;
                    let object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
                    demand(object, "vLLM and Ollama take the arguments apart")?;
                    demand(
                        is_name(at(call, "/function/name"), 64),
                        "a tool's name matches ^[a-zA-Z0-9_-]{1,64}$",
                    )?;
                    demand(is_name(&call["id"], 40), "a call has a name of at most 40 letters")?;
                    demand(!open.contains(&&call["id"]), "a name is used once")?;
                    open.push(&call["id"]);
                }
            }
            "tool" => {
                only(message, &["role", "tool_call_id", "content"])?;
                demand(message["content"].is_string(), "a result is a text")?;
                let place = open.iter().position(|id| **id == message["tool_call_id"]);
                open.remove(place.ok_or("a tool message answers a call before it")?);
            }
            other => return Err(format!("no such role: {other}")),
        }
    }
    demand(open.is_empty() && messages.len() > 1, "each call is answered")
}

fn is_name(name: &Value, longest: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    name.as_str().is_some_and(|name| (1..=longest).contains(&name.len()) && name.bytes().all(plain))
}
