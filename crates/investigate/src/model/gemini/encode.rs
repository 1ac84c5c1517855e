//! A conversation in Gemini's words.

use serde_json::{Map, Value, json};

use crate::model::gemini::PROVIDER;
use crate::model::gemini::schema::documented;
use crate::model::history::{CallOutcome, HistoryEntry, entries, name};
use crate::model::{Ask, Call, Carry, Message, ToolSpec, call};

/// Stands where a call has no signature because another model made it. The documentation names this value for
/// conversations that come from elsewhere; Gemini 3 refuses a call without any.
const FOREIGN: &str = "skip_thought_signature_validator";

/// The largest integer that survives Gemini's numbers, which are doubles.
const EXACT: u64 = 1 << 53;

/// Returns the body of a request. `signed` says whether signed thoughts are handed back.
///
/// System prompt and tools come first and never change within a session, so that the provider's implicit cache finds
/// the same beginning.
pub(super) fn body(ask: &Ask, model: &str, signed: bool) -> Value {
    let mut body = Map::new();
    if !ask.system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({ "parts": [{ "text": ask.system }] }));
    }
    if !ask.tools.is_empty() {
        let tools: Vec<Value> = ask.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": tools }]));
        body.insert("toolConfig".to_owned(), json!({ "functionCallingConfig": { "mode": "AUTO" } }));
    }
    body.insert("contents".to_owned(), contents(&ask.messages, model, signed));
    body.insert("generationConfig".to_owned(), json!({ "maxOutputTokens": ask.max_output_tokens }));
    Value::Object(body)
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": documented(&tool.parameters),
    })
}

/// Returns the conversation; neighbors of one role become one content, because roles have to alternate.
fn contents(messages: &[Message], model: &str, signed: bool) -> Value {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for step in entries(messages) {
        match step {
            HistoryEntry::User(text) => append(&mut contents, "user", vec![json!({ "text": spoken(text) })]),
            HistoryEntry::Turn(turn) => {
                let parts = kept(turn.carry, turn.calls, model).filter(|_| signed);
                let parts = parts.unwrap_or_else(|| rebuilt(turn.text, turn.calls, model));
                let calls_sent: Vec<Value> =
                    parts.iter().filter_map(|part| part.get("functionCall")).cloned().collect();
                append(&mut contents, "model", parts);
                let responses =
                    turn.outcomes.iter().zip(&calls_sent).map(|(outcome, call)| response(*outcome, call));
                append(&mut contents, "user", responses.collect());
            }
        }
    }
    contents.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn append(contents: &mut Vec<(&str, Vec<Value>)>, role: &'static str, parts: Vec<Value>) {
    match contents.last_mut() {
        Some((last, all)) if *last == role => all.extend(parts),
        Some(_) | None if parts.is_empty() => {}
        Some(_) | None => contents.push((role, parts)),
    }
}

/// A part needs some text.
fn spoken(text: &str) -> &str {
    if text.trim().is_empty() { "(no text)" } else { text }
}

/// Returns the parts exactly as they came, if this model made them and they still tell the same calls.
fn kept(carry: Option<&Carry>, calls: &[Call], model: &str) -> Option<Vec<Value>> {
    let carry = carry.filter(|carry| carry.provider == PROVIDER)?;
    if carry.value.get("model")?.as_str()? != model {
        return None;
    }
    let parts = carry.value.get("parts")?.as_array()?;
    let tools: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.get("functionCall"))
        .map(|call| call.get("name").and_then(Value::as_str).unwrap_or_default())
        .collect();
    let same = tools.len() == calls.len() && tools.iter().zip(calls).all(|(name, call)| *name == call.tool);
    same.then(|| parts.clone())
}

/// Returns parts for what somebody else said.
fn rebuilt(text: &str, calls: &[Call], model: &str) -> Vec<Value> {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({ "text": text }));
    }
    for (n, call) in calls.iter().enumerate() {
        let mut part =
            json!({ "functionCall": { "name": name(&call.tool), "args": call::object(&call.arguments) } });
        // Of calls side by side only the first carries a signature.
        if n == 0
            && insists(model)
            && let Some(part) = part.as_object_mut()
        {
            part.insert("thoughtSignature".to_owned(), json!(FOREIGN));
        }
        parts.push(part);
    }
    parts
}

/// Tells whether a model refuses calls without a signature: those from Gemini 3 on do.
fn insists(model: &str) -> bool {
    let version = model.trim_start_matches("gemini-");
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    model.starts_with("gemini-") && digits.parse::<u32>().is_ok_and(|major| major >= 3)
}

/// Returns what came of a call, with the names that the call has in this request.
fn response(outcome: CallOutcome<'_>, call: &Value) -> Value {
    let key = if outcome.is_error { "error" } else { "output" };
    let mut response = json!({ "name": call.get("name"), "response": { key: content(outcome.content) } });
    if let (Some(id), Some(response)) = (call.get("id"), response.as_object_mut()) {
        response.insert("id".to_owned(), id.clone());
    }
    json!({ "functionResponse": response })
}

/// Returns a result as a value; as text where a number in it would be rounded.
fn content(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if exact(&value) => value,
        Ok(_) | Err(_) => Value::String(text.to_owned()),
    }
}

fn exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_f64()
                || number.as_u64().is_some_and(|n| n <= EXACT)
                || number.as_i64().is_some_and(|n| n.unsigned_abs() <= EXACT)
        }
        Value::Array(list) => list.iter().all(exact),
        Value::Object(map) => map.values().all(exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ToolResult;

    fn user(text: &str) -> Message {
        Message::User { text: text.to_owned() }
    }

    fn call(id: &str, tool: &str) -> Call {
        Call { id: id.to_owned(), tool: tool.to_owned(), arguments: json!({"a": 1}) }
    }

    fn result(id: &str, tool: &str, content: &str) -> ToolResult {
        ToolResult {
            id: id.to_owned(),
            tool: tool.to_owned(),
            content: content.to_owned(),
            is_error: content.contains("refused"),
        }
    }

    fn turn(carry: Option<Carry>) -> Vec<Message> {
        vec![
            user("one"),
            user("two"),
            Message::Assistant {
                text: "Hm.".to_owned(),
                calls: vec![call("x", "look"), call("c0_1", "look")],
                carry,
            },
            Message::Results {
                results: vec![result("x", "look", r#"{"n":1}"#), result("c0_1", "look", r#""refused""#)],
            },
            user("go on"),
        ]
    }

    fn carry(model: &str) -> Carry {
        let parts = json!([
            { "text": "Hm." },
            { "functionCall": { "id": "g1", "name": "look", "args": {"a": 1} }, "thoughtSignature": "c2ln" },
            { "functionCall": { "name": "look", "args": {"a": 1} } },
        ]);
        Carry { provider: PROVIDER.to_owned(), value: json!({ "model": model, "parts": parts }) }
    }

    #[test]
    fn roles_alternate_and_signed_parts_come_back_as_they_were() {
        let expected = json!([
            { "role": "user", "parts": [{ "text": "one" }, { "text": "two" }] },
            { "role": "model", "parts": carry("m").value["parts"] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "g1", "name": "look", "response": { "output": {"n": 1} } } },
                { "functionResponse": { "name": "look", "response": { "error": "refused" } } },
                { "text": "go on" },
            ] },
        ]);
        assert_eq!(contents(&turn(Some(carry("m"))), "m", true), expected);
    }

    #[test]
    fn thoughts_of_another_model_are_not_shown() {
        let foreign = Carry { provider: "openai".to_owned(), ..carry("gemini-3-pro") };
        for carry in [None, Some(carry("gemini-2.5-pro")), Some(foreign)] {
            let contents = contents(&turn(carry), "gemini-3-pro", true);
            let expected = json!([
                { "text": "Hm." },
                { "functionCall": { "name": "look", "args": {"a": 1} }, "thoughtSignature": FOREIGN },
                { "functionCall": { "name": "look", "args": {"a": 1} } },
            ]);
            assert_eq!(contents[1]["parts"], expected);
            assert_eq!(contents[2]["parts"][0]["functionResponse"].get("id"), None);
        }
        assert!(!insists("gemini-2.5-pro") && insists("gemini-10-x") && !insists("llama-3"));
    }

    #[test]
    fn a_turn_that_was_changed_is_sent_without_its_thoughts() {
        let mut messages = turn(Some(carry("m")));
        if let Message::Assistant { calls, .. } = &mut messages[2] {
            calls.pop();
        }
        let contents = contents(&messages, "m", true);
        assert_eq!(contents[1]["parts"].as_array().unwrap().len(), 2);
        assert_eq!(contents[1]["parts"][1].get("thoughtSignature"), None);
    }

    #[test]
    fn a_silent_turn_leaves_no_empty_content() {
        let silent = Message::Assistant { text: String::new(), calls: Vec::new(), carry: None };
        let contents = contents(&[user(" "), silent, user("go on")], "m", true);
        let expected = json!([{ "role": "user", "parts": [{ "text": "(no text)" }, { "text": "go on" }] }]);
        assert_eq!(contents, expected);
    }

    #[test]
    fn a_number_that_would_be_rounded_stays_text() {
        assert_eq!(content(r#"{"n":9007199254740992}"#), json!({"n": 9_007_199_254_740_992_u64}));
        assert_eq!(content(r#"{"n":9007199254740993}"#), json!(r#"{"n":9007199254740993}"#));
        assert_eq!(content("no json"), json!("no json"));
    }
}
