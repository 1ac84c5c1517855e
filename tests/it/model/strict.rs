//! The servers refuse what the documentation refuses: otherwise a test against them would prove nothing.

use axum::http::{HeaderMap, Method};
use serde_json::{Value, json};

use crate::model::server::Seen;
use crate::model::{gemini, openai};

/// Makes a request; `change` sets values at paths.
fn request(path: &str, body: &Value, change: &[(&str, Value)]) -> Seen {
    let mut body = body.clone();
    for (at, value) in change {
        *body.pointer_mut(at).unwrap() = value.clone();
    }
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "application/json".parse().unwrap());
    headers.insert("x-goog-api-key", "plain-word-key-9".parse().unwrap());
    Seen { method: Method::POST, path: path.to_owned(), headers, body }
}

const GEMINI: &str = "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse";

fn gemini() -> Value {
    json!({
        "systemInstruction": { "parts": [{ "text": "s" }] },
        "tools": [{ "functionDeclarations": [{ "name": "look", "description": "d",
            "parametersJsonSchema": { "type": "object", "properties": { "a": { "type": "string" } } } }] }],
        "toolConfig": { "functionCallingConfig": { "mode": "AUTO" } },
        "generationConfig": { "maxOutputTokens": 1 },
        "contents": [
            { "role": "user", "parts": [{ "text": "one" }] },
            { "role": "model", "parts": [
                { "functionCall": { "id": "1", "name": "look", "args": {} }, "thoughtSignature": "c2ln" }] },
            { "role": "user", "parts": [{ "functionResponse": { "id": "1", "name": "look", "response": {} } }] },
        ],
    })
}

#[test]
fn gemini_is_strict() {
    assert!(gemini::rules::rules(&request(GEMINI, &gemini(), &[])).is_ok());
    let with_key = format!("{GEMINI}&key=plain-word-key-9");
    assert!(gemini::rules::rules(&request(&with_key, &gemini(), &[])).is_err());
    let call = json!({ "functionCall": { "id": "1", "name": "look", "args": {} } });
    let changes = [
        ("/contents", json!([])),
        ("/contents/0/role", json!("model")),
        ("/contents/1/role", json!("assistant")),
        ("/contents/1/parts/0", call),
        ("/contents/1/parts/0/functionCall/args", json!("[")),
        ("/contents/1/parts/0/functionCall/name", json!("a b")),
        ("/contents/2/parts", json!([{ "text": "no response" }])),
        ("/contents/2/parts/0/functionResponse/id", json!("2")),
        ("/contents/2/parts/0/functionResponse/name", json!("other")),
        ("/contents/2/parts/0/functionResponse/response", json!("text")),
        ("/contents/2/parts/0", json!({ "text": "a", "extra": 1 })),
        ("/generationConfig", json!({ "maxTokens": 1 })),
        ("/tools/0/functionDeclarations/0/parametersJsonSchema/properties/a", json!({ "pattern": "^a" })),
        ("/tools/0/functionDeclarations/0/parametersJsonSchema", json!({ "$schema": "x" })),
        ("/tools/0/functionDeclarations/0", json!({ "name": "look", "parameters": {} })),
    ];
    for change in changes {
        let refused = gemini::rules::rules(&request(GEMINI, &gemini(), std::slice::from_ref(&change)));
        assert!(refused.is_err(), "{change:?}");
    }
}

fn response() -> Value {
    json!({
        "model": "gpt-5", "store": false, "stream": true, "max_output_tokens": 16,
        "include": ["reasoning.encrypted_content"],
        "tools": [{ "type": "function", "name": "look", "description": "d", "parameters": { "type": "object" }, "strict": false }],
        "input": [
            { "role": "user", "content": "one" },
            { "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e" },
            { "type": "function_call", "id": "fc", "call_id": "1", "name": "look", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "1", "output": "{}" },
        ],
    })
}

#[test]
fn responses_are_strict() {
    assert!(openai::rules::response_rules(&request("/v1/responses", &response(), &[])).is_ok());
    assert!(openai::rules::response_rules(&request("/v1/chat/completions", &response(), &[])).is_err());
    let changes = [
        ("/store", json!(true)),
        ("/stream", json!(false)),
        ("/max_output_tokens", json!(1)),
        ("/model", json!("gpt-4.1")),
        ("/tools/0/strict", json!(true)),
        ("/tools/0/parameters", json!({})),
        ("/input", json!([])),
        ("/input/1/encrypted_content", json!(null)),
        ("/input/2", json!({ "role": "user", "content": "reasoning leads nowhere" })),
        ("/input/2/arguments", json!({})),
        ("/input/2/call_id", json!("")),
        ("/input/2/name", json!("a b")),
        ("/input/3/call_id", json!("2")),
        ("/input/3/output", json!({})),
        ("/input/3", json!({ "role": "user", "content": "no output" })),
        ("/input/3", json!({ "type": "mystery" })),
    ];
    for change in changes {
        let seen = request("/v1/responses", &response(), std::slice::from_ref(&change));
        assert!(openai::rules::response_rules(&seen).is_err(), "{change:?}");
    }
}

fn chat() -> Value {
    json!({
        "model": "m", "stream": true, "stream_options": { "include_usage": true }, "max_tokens": 9,
        "tools": [{ "type": "function", "function": { "name": "look", "description": "d", "parameters": { "type": "object" } } }],
        "messages": [
            { "role": "system", "content": "s" },
            { "role": "user", "content": "one" },
            { "role": "assistant", "tool_calls": [
                { "id": "1", "type": "function", "function": { "name": "look", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "1", "content": "{}" },
        ],
    })
}

#[test]
fn chats_are_strict() {
    let path = "/v1/chat/completions";
    assert!(openai::rules::chat_rules(&request(path, &chat(), &[])).is_ok());
    assert!(openai::rules::chat_rules(&request("/v1/responses", &chat(), &[])).is_err());
    let changes = [
        ("/stream_options", json!({})),
        ("/max_tokens", json!("9")),
        ("/tools/0/function/parameters", json!({})),
        ("/messages/0/role", json!("user")),
        ("/messages/1/role", json!("tool")),
        ("/messages/1/content", json!(null)),
        ("/messages/2", json!({ "role": "assistant" })),
        ("/messages/2/tool_calls/0/function/arguments", json!("[")),
        ("/messages/2/tool_calls/0/function/name", json!("a b")),
        ("/messages/2/tool_calls/0/function/arguments", json!({})),
        ("/messages/3/tool_call_id", json!("2")),
        ("/messages/3", json!({ "role": "tool", "content": "{}" })),
        ("/messages/3", json!({ "role": "user", "content": "no answer" })),
    ];
    for change in changes {
        let seen = request(path, &chat(), std::slice::from_ref(&change));
        assert!(openai::rules::chat_rules(&seen).is_err(), "{change:?}");
    }
}
