//! A conversation as items.

use serde_json::{Map, Value, json};

use crate::model::history::{HistoryEntry, entries, id, name};
use crate::model::openai::PROVIDER;
use crate::model::{Ask, Call, Carry, Message, ToolSpec, call};

/// OpenAI refuses a lower limit.
const LEAST: u32 = 16;

/// Whose items may be handed back, and what else a request says.
#[derive(Debug, Clone, Copy)]
pub(in crate::model::openai) struct Frame<'a> {
    pub(in crate::model::openai) model: &'a str,
    /// The host: items are encrypted for whoever made them.
    pub(in crate::model::openai) host: &'a str,
    /// Whether the model reasons and its reasoning is wanted back.
    pub(in crate::model::openai) reasons: bool,
    /// Whether items from before are handed back.
    pub(in crate::model::openai) carried: bool,
    /// Leads requests with the same beginning to the same cache.
    pub(in crate::model::openai) cache_key: Option<&'a str>,
}

/// Returns the body of a request.
pub(in crate::model::openai) fn body(ask: &Ask, frame: Frame<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(frame.model));
    body.insert("input".to_owned(), input(&ask.messages, frame));
    body.insert("max_output_tokens".to_owned(), json!(ask.max_output_tokens.max(LEAST)));
    // The provider keeps nothing: a session lives in the ledger alone.
    body.insert("store".to_owned(), json!(false));
    body.insert("stream".to_owned(), json!(true));
    if !ask.system.is_empty() {
        body.insert("instructions".to_owned(), json!(ask.system));
    }
    if !ask.tools.is_empty() {
        body.insert("tools".to_owned(), ask.tools.iter().map(tool).collect());
    }
    if frame.reasons {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(key) = frame.cache_key {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    Value::Object(body)
}

/// Strict schemas know no optional property, which ours have.
fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}

fn input(messages: &[Message], frame: Frame<'_>) -> Value {
    let mut items = Vec::new();
    for step in entries(messages) {
        match step {
            HistoryEntry::User(text) => items.push(json!({ "role": "user", "content": text })),
            HistoryEntry::Turn(turn) => {
                let turn_items = kept(turn.carry, turn.calls, frame).filter(|_| frame.carried);
                let turn_items = turn_items.unwrap_or_else(|| rebuilt(turn.text, turn.calls));
                let named: Vec<String> = turn_items.iter().filter_map(call_id).map(str::to_owned).collect();
                items.extend(turn_items);
                let outputs = turn.outcomes.iter().zip(named);
                items.extend(outputs.map(|(outcome, id)| {
                    json!({ "type": "function_call_output", "call_id": id, "output": outcome.content })
                }));
            }
        }
    }
    Value::Array(items)
}

fn call_id(item: &Value) -> Option<&str> {
    (item.get("type")? == "function_call").then(|| item.get("call_id")?.as_str())?
}

/// Returns the items exactly as they came, if this model made them there and they still tell the same calls.
fn kept(carry: Option<&Carry>, calls: &[Call], frame: Frame<'_>) -> Option<Vec<Value>> {
    let carry = carry.filter(|carry| carry.provider == PROVIDER)?;
    let said = |key: &str| carry.value.get(key).and_then(Value::as_str);
    if said("model") != Some(frame.model) || said("host") != Some(frame.host) {
        return None;
    }
    let items = carry.value.get("items")?.as_array()?;
    let called: Vec<&Value> = items.iter().filter(|item| call_id(item).is_some()).collect();
    let same = called.len() == calls.len()
        && called.iter().zip(calls).all(|(item, call)| item["name"].as_str() == Some(&call.tool));
    same.then(|| items.clone())
}

/// Returns items for what somebody else said.
fn rebuilt(text: &str, calls: &[Call]) -> Vec<Value> {
    let mut items = Vec::new();
    if !text.is_empty() {
        items.push(json!({ "role": "assistant", "content": text }));
    }
    items.extend(calls.iter().map(|call| {
        json!({
            "type": "function_call",
            "call_id": id(&call.id),
            "name": name(&call.tool),
            "arguments": call::object(&call.arguments).to_string(),
        })
    }));
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ToolResult;

    const FRAME: Frame<'_> =
        Frame { model: "m", host: "h", reasons: true, carried: true, cache_key: Some("ghost") };

    fn carry(model: &str, host: &str) -> Carry {
        let items = json!([
            { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e" },
            { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{\"a\": 1}" },
        ]);
        Carry {
            provider: PROVIDER.to_owned(),
            value: json!({ "model": model, "host": host, "items": items }),
        }
    }

    fn turn(carry: Option<Carry>) -> Vec<Message> {
        let call = Call { id: "c0_0".to_owned(), tool: "look".to_owned(), arguments: json!("{\"a\"") };
        let result = ToolResult {
            id: "c0_0".to_owned(),
            tool: "look".to_owned(),
            content: "{}".to_owned(),
            is_error: false,
        };
        vec![
            Message::User { text: "one".to_owned() },
            Message::Assistant { text: "Hm.".to_owned(), calls: vec![call], carry },
            Message::Results { results: vec![result] },
        ]
    }

    #[test]
    fn items_come_back_as_they_were_and_are_answered_by_their_names() {
        let items = carry("m", "h").value["items"].clone();
        let expected = json!([
            { "role": "user", "content": "one" },
            items[0],
            items[1],
            { "type": "function_call_output", "call_id": "call_1", "output": "{}" },
        ]);
        assert_eq!(input(&turn(Some(carry("m", "h"))), FRAME), expected);
    }

    #[test]
    fn items_for_another_model_or_host_are_rebuilt() {
        let expected = json!([
            { "role": "user", "content": "one" },
            { "role": "assistant", "content": "Hm." },
            { "type": "function_call", "call_id": "c0_0", "name": "look",
              "arguments": "{\"not_an_object\":\"{\\\"a\\\"\"}" },
            { "type": "function_call_output", "call_id": "c0_0", "output": "{}" },
        ]);
        for carry in [None, Some(carry("x", "h")), Some(carry("m", "x"))] {
            assert_eq!(input(&turn(carry), FRAME), expected);
        }
        let distrusted = Frame { carried: false, ..FRAME };
        assert_eq!(input(&turn(Some(carry("m", "h"))), distrusted), expected);
    }

    #[test]
    fn nothing_is_stored_and_reasoning_is_asked_for_where_there_is_some() {
        let ask = Ask {
            turn: 0,
            system: "Be short.".to_owned(),
            tools: vec![ToolSpec {
                name: "look".to_owned(),
                description: "Reads.".to_owned(),
                parameters: json!({ "type": "object" }),
            }],
            messages: Vec::new(),
            max_output_tokens: 99,
            fruitless: 0,
            shortened: 0,
        };
        let expected = json!({
            "model": "m", "input": [], "max_output_tokens": 99, "store": false, "stream": true,
            "instructions": "Be short.", "prompt_cache_key": "ghost", "include": ["reasoning.encrypted_content"],
            "tools": [{ "type": "function", "name": "look", "description": "Reads.",
                        "parameters": { "type": "object" }, "strict": false }],
        });
        assert_eq!(body(&ask, FRAME), expected);
        let plain = body(&ask, Frame { reasons: false, cache_key: None, ..FRAME });
        assert_eq!((plain.get("include"), plain.get("prompt_cache_key")), (None, None));
    }
}
