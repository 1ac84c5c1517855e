//! What the documentation of the Messages API refuses.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::model::anthropic::wire::{KEY, error};
use crate::model::server::{Reply, Seen};

type Refused = Result<(), (&'static str, String)>;

const FIELDS: [&str; 13] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "stream",
    "temperature",
    "thinking",
    "tool_choice",
    "stop_sequences",
    "metadata",
    "top_p",
    "top_k",
];

/// Holds a request against the documentation.
pub(in crate::model) fn hold(seen: &Seen) -> Result<(), (String, Reply)> {
    head(seen).and_then(|()| body(&seen.body)).map_err(|(kind, what)| {
        let status = match kind {
            "authentication_error" => 401,
            "not_found_error" => 404,
            _ => 400,
        };
        (what.clone(), error(status, kind, &what))
    })
}

fn wrong(what: impl Into<String>) -> Refused {
    Err(("invalid_request_error", what.into()))
}

fn must(holds: bool, what: impl Into<String>) -> Refused {
    if holds { Ok(()) } else { wrong(what) }
}

fn head(seen: &Seen) -> Refused {
    if seen.method != "POST" || seen.path != "/v1/messages" {
        return Err(("not_found_error", format!("{} {}", seen.method, seen.path)));
    }
    if seen.header("x-api-key") != KEY || seen.headers.contains_key("authorization") {
        return Err(("authentication_error", "invalid x-api-key".to_owned()));
    }
    must(seen.header("anthropic-version") == "2023-06-01", "anthropic-version: header is required")?;
    must(seen.header("content-type") == "application/json", "content-type must be application/json")
}

fn body(body: &Value) -> Refused {
    fields(body, "body", &["model", "max_tokens", "messages"], &FIELDS)?;
    must(body["model"].as_str().is_some_and(|model| !model.is_empty()), "model: a name")?;
    must(body["max_tokens"].as_u64().is_some_and(|tokens| tokens >= 1), "max_tokens: at least 1")?;
    must(body["stream"].is_boolean() || body["stream"].is_null(), "stream: true or false")?;
    let none = Vec::new();
    let list = |name: &str| body[name].as_array().unwrap_or(&none).clone();
    for block in list("system") {
        must(block["type"] == "text", "system: only text")?;
        text(&block)?;
    }
    tools(&list("tools"))?;
    must(!list("messages").is_empty(), "messages: at least one message is required")?;
    messages(&list("messages"))?;
    must(marks(body) <= 4, "a maximum of 4 blocks with cache_control may be provided")
}

/// Asks for an object that has some fields and none but others.
fn fields(value: &Value, at: &str, required: &[&str], allowed: &[&str]) -> Refused {
    let Some(object) = value.as_object() else { return wrong(format!("{at}: an object")) };
    for name in required {
        must(object.contains_key(*name), format!("{at}.{name}: Field required"))?;
    }
    for name in object.keys() {
        must(allowed.contains(&name.as_str()), format!("{at}.{name}: Extra inputs are not permitted"))?;
    }
    must(
        object.get("cache_control").is_none_or(|mark| *mark == json!({"type": "ephemeral"})),
        format!("{at}.cache_control"),
    )
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(object) => {
            usize::from(object.contains_key("cache_control")) + object.values().map(marks).sum::<usize>()
        }
        Value::Array(list) => list.iter().map(marks).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn is_name(value: &Value, longest: usize) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    value.as_str().is_some_and(|name| (1..=longest).contains(&name.len()) && name.chars().all(plain))
}

fn tools(tools: &[Value]) -> Refused {
    let mut names = BTreeSet::new();
    for tool in tools {
        fields(
            tool,
            "tools",
            &["name", "input_schema"],
            &["name", "description", "input_schema", "cache_control"],
        )?;
        must(is_name(&tool["name"], 64), "tools.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")?;
        must(names.insert(tool["name"].to_string()), "tools: Tool names must be unique")?;
        must(tool["input_schema"]["type"] == "object", "tools.input_schema.type: Field required")?;
        let schema = tool["input_schema"].to_string();
        must(!schema.contains("\"$ref\"") && !schema.contains("\"anyOf\":[]"), "tools.input_schema")?;
    }
    Ok(())
}

fn messages(messages: &[Value]) -> Refused {
    let none = Vec::new();
    let mut open: Vec<Value> = Vec::new();
    let mut ids = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let at_name = format!("messages.{at}");
        fields(message, &at_name, &["role", "content"], &["role", "content"])?;
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        must(
            message["role"] == expected,
            format!("{at_name}: roles must alternate between user and assistant"),
        )?;
        let content = message["content"].as_array().unwrap_or(&none);
        must(!content.is_empty(), format!("{at_name}: content must be non-empty"))?;
        let mut answered: Vec<Value> = Vec::new();
        let mut called: Vec<Value> = Vec::new();
        let mut others = false;
        for block in content {
            let kind = block["type"].as_str().unwrap_or_default();
            match (expected, kind) {
                (_, "text") => text(block)?,
                ("assistant", "thinking") => {
                    fields(block, kind, &["thinking", "signature"], &["type", "thinking", "signature"])?;
                    let signed = block["signature"].as_str().is_some_and(|signature| !signature.is_empty());
                    must(signed, format!("{at_name}: Invalid `signature` in `thinking` block"))?;
                }
                ("assistant", "redacted_thinking") => fields(block, kind, &["data"], &["type", "data"])?,
                ("assistant", "tool_use") => {
                    fields(
                        block,
                        kind,
                        &["id", "name", "input"],
                        &["type", "id", "name", "input", "cache_control"],
                    )?;
                    must(is_name(&block["id"], 256), format!("{at_name}.tool_use.id: pattern"))?;
                    must(is_name(&block["name"], 64), format!("{at_name}.tool_use.name: pattern"))?;
                    must(
                        block["input"].is_object(),
                        format!("{at_name}.tool_use.input: Input should be an object"),
                    )?;
                    must(ids.insert(block["id"].to_string()), "`tool_use` ids must be unique")?;
                    called.push(block["id"].clone());
                }
                ("user", "tool_result") => {
                    let allowed = ["type", "tool_use_id", "content", "is_error", "cache_control"];
                    fields(block, kind, &["tool_use_id"], &allowed)?;
                    must(block["content"].is_string(), format!("{at_name}.tool_result.content"))?;
                    must(!others, format!("{at_name}: tool_result blocks must come first"))?;
                    let what = "unexpected `tool_use_id` found in `tool_result` blocks";
                    must(open.contains(&block["tool_use_id"]), what)?;
                    must(
                        !answered.contains(&block["tool_use_id"]),
                        "each tool_use must have a single result",
                    )?;
                    answered.push(block["tool_use_id"].clone());
                }
                _ => return wrong(format!("{at_name}: unexpected block {kind:?} of {expected}")),
            }
            others |= kind != "tool_result";
        }
        must(
            open.iter().all(|id| answered.contains(id)),
            "`tool_use` ids were found without `tool_result` blocks immediately after",
        )?;
        open = called;
    }
    // Prefilling the answer is not supported by the newer models.
    must(messages.len() % 2 == 1, "the conversation must end with a user message")
}

fn text(block: &Value) -> Refused {
    fields(block, "text", &["type", "text"], &["type", "text", "cache_control"])?;
    let words = block["text"].as_str().unwrap_or_default();
    must(!words.is_empty(), "text content blocks must be non-empty")?;
    must(!words.trim().is_empty(), "text content blocks must contain non-whitespace text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Value {
        json!({
            "model": "m", "max_tokens": 10, "stream": true,
            "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "", "signature": "s"},
                    {"type": "tool_use", "id": "a", "name": "t", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "{}"},
                    {"type": "text", "text": "and?"},
                ]},
            ],
        })
    }

    /// Changes what a pointer shows, or takes it away.
    #[track_caller]
    fn refuses(pointer: &str, value: Option<Value>) {
        let mut request = good();
        match value {
            Some(value) => *request.pointer_mut(pointer).unwrap() = value,
            None => {
                let (parent, name) = pointer.rsplit_once('/').unwrap();
                request.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
            }
        }
        assert!(body(&request).is_err(), "{pointer}");
    }

    #[test]
    fn the_rules_accept_what_is_documented() {
        assert_eq!(body(&good()), Ok(()));
    }

    #[test]
    fn the_rules_refuse_what_is_not() {
        for field in ["/model", "/max_tokens", "/messages", "/tools/0/name", "/tools/0/input_schema/type"] {
            refuses(field, None);
        }
        refuses("/messages/1/content/0/signature", None);
        refuses("/messages/2/content/0/tool_use_id", None);
        refuses("/max_tokens", Some(json!(0)));
        refuses("/messages", Some(json!([])));
        refuses("/messages/1/role", Some(json!("user")));
        refuses("/messages/0/content", Some(json!([])));
        refuses("/messages/0/content/0/text", Some(json!(" ")));
        refuses("/messages/0/content/0", Some(json!({"type": "text", "text": "x", "extra": 1})));
        refuses("/messages/1/content/1/input", Some(json!("text")));
        refuses("/messages/1/content/1/name", Some(json!("a b")));
        refuses("/messages/2/content/0/tool_use_id", Some(json!("b")));
        refuses("/messages/2/content/0", Some(json!({"type": "text", "text": "no result"})));
        let late = json!([
            {"type": "text", "text": "first"},
            {"type": "tool_result", "tool_use_id": "a", "content": "{}"},
        ]);
        refuses("/messages/2/content", Some(late));
        refuses("/system", Some(json!([{"type": "text", "text": ""}])));
        refuses("/tools/0/name", Some(json!("a.b")));
        refuses("/stream", Some(json!("yes")));
    }

    #[test]
    fn the_rules_refuse_unknown_fields_and_a_fifth_mark() {
        let mut request = good();
        request["thoughts"] = json!(1);
        assert!(body(&request).is_err());
        let mut request = good();
        let mark = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
        request["messages"][0]["content"] = json!([mark, mark, mark, mark]);
        assert!(body(&request).is_err());
    }
}
