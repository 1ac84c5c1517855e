//! What Gemini's documentation says about requests, and how it writes answers.

use serde_json::{Value, json};

use crate::model::server::{Reply, Seen};

/// The words of a schema that are documented.
const WORDS: [&str; 17] = [
    "type",
    "title",
    "description",
    "enum",
    "format",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "required",
    "propertyOrdering",
    "items",
    "prefixItems",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "properties",
];

/// Holds a request against the documentation.
pub(in crate::model) fn rules(seen: &Seen) -> Result<(), (String, Reply)> {
    check(seen).map_err(|fault| (fault.clone(), error(400, "INVALID_ARGUMENT", &fault)))
}

/// An error as Gemini writes it.
pub(in crate::model) fn error(code: u16, status: &str, message: &str) -> Reply {
    Reply::json(code, &json!({ "error": { "code": code, "message": message, "status": status } }))
}

/// A stream of chunks, cut where it hurts.
pub(in crate::model) fn stream(fragments: &[Value], bytes: usize) -> Reply {
    let text: String = fragments.iter().map(|fragment| format!("data: {fragment}\r\n\r\n")).collect();
    Reply::events(&text, bytes)
}

/// A chunk of a turn.
pub(in crate::model) fn fragment(parts: &Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }], "modelVersion": "m" })
}

/// The last chunk of a turn.
pub(in crate::model) fn last(parts: &Value, reason: &str) -> Value {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": reason, "index": 0 }],
        "usageMetadata": { "promptTokenCount": 900, "cachedContentTokenCount": 600, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 30, "totalTokenCount": 950 },
        "modelVersion": "m",
        "responseId": "r",
    })
}

fn check(seen: &Seen) -> Result<(), String> {
    demand(seen.method == "POST", "the method is POST")?;
    demand(!seen.path.contains("key"), "the key is in the address")?;
    let model = seen
        .path
        .strip_prefix("/v1beta/models/")
        .and_then(|path| path.strip_suffix(":streamGenerateContent?alt=sse"));
    let model = model.ok_or_else(|| format!("no such path: {}", seen.path))?;
    demand(!seen.header("x-goog-api-key").is_empty(), "there is no key")?;
    demand(seen.header("content-type") == "application/json", "the body is JSON")?;
    let body = &seen.body;
    only(body, &["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"])?;
    demand(at(body, "/systemInstruction/parts/0/text").is_string(), "a system instruction has text")?;
    only(&body["generationConfig"], &["maxOutputTokens"])?;
    demand(at(body, "/generationConfig/maxOutputTokens").as_u64() > Some(0), "the limit is a number")?;
    demand(at(body, "/toolConfig/functionCallingConfig/mode") == "AUTO", "the mode is AUTO")?;
    for tool in list(at(body, "/tools/0/functionDeclarations")) {
        only(tool, &["name", "description", "parametersJsonSchema"])?;
        demand(tool["description"].is_string(), "a function has a description")?;
        schema(&tool["parametersJsonSchema"])?;
    }
    contents(list(&body["contents"]), model)
}

fn contents(contents: &[Value], model: &str) -> Result<(), String> {
    demand(!contents.is_empty(), "contents is not specified")?;
    let mut open: Vec<&Value> = Vec::new();
    for (n, content) in contents.iter().enumerate() {
        only(content, &["role", "parts"])?;
        demand(
            content["role"] == if n % 2 == 0 { "user" } else { "model" },
            "roles alternate, the user begins",
        )?;
        let parts = list(&content["parts"]);
        demand(!parts.is_empty(), "a content has parts")?;
        for part in parts {
            only(part, &["text", "thought", "thoughtSignature", "functionCall", "functionResponse"])?;
            let data =
                ["text", "functionCall", "functionResponse"].iter().filter(|key| part.get(key).is_some());
            demand(data.count() == 1, "a part holds one kind of data")?;
        }
        let responses: Vec<&Value> = parts.iter().filter_map(|part| part.get("functionResponse")).collect();
        demand(responses.len() == open.len(), "the numbers of function calls and responses are equal")?;
        let first = parts.iter().take(responses.len()).all(|part| part.get("functionResponse").is_some());
        demand(first, "responses come first")?;
        for (call, response) in open.iter().zip(responses) {
            only(response, &["id", "name", "response"])?;
            demand(response["response"].is_object(), "a response is an object")?;
            demand(
                call["name"] == response["name"] && call.get("id") == response.get("id"),
                "responses match calls",
            )?;
        }
        open = parts.iter().filter_map(|part| part.get("functionCall")).collect();
        for call in &open {
            only(call, &["id", "name", "args"])?;
            demand(call["args"].is_object(), "arguments are an object")?;
            let name = call["name"].as_str().unwrap_or_default();
            let begins = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
            let plain = name.chars().all(|char| char.is_ascii_alphanumeric() || "_.:-".contains(char));
            demand(begins && plain && name.len() <= 64, "a function has a name of plain letters")?;
        }
        let signed = parts.iter().find(|part| part.get("functionCall").is_some());
        let signed =
            signed.is_none_or(|part| part["thoughtSignature"].as_str().is_some_and(|text| !text.is_empty()));
        demand(signed || !model.starts_with("gemini-3"), "Function call is missing a thought_signature")?;
    }
    demand(open.is_empty() && contents.len() % 2 == 1, "the user has the last word")
}

fn schema(schema: &Value) -> Result<(), String> {
    let Some(map) = schema.as_object() else {
        return demand(schema.is_boolean(), "a schema is an object");
    };
    for (word, value) in map {
        demand(WORDS.contains(&word.as_str()), &format!("unknown word in a schema: {word}"))?;
        match (word.as_str(), value) {
            ("properties", Value::Object(all)) => all.values().try_for_each(self::schema)?,
            ("items" | "additionalProperties", one) => self::schema(one)?,
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(all)) => {
                all.iter().try_for_each(self::schema)?
            }
            _ => {}
        }
    }
    Ok(())
}

/// Fails where something is not as it has to be.
pub(in crate::model) fn demand(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Fails where an object has a field that is not documented.
pub(in crate::model) fn only(value: &Value, fields: &[&str]) -> Result<(), String> {
    let object = value.as_object().ok_or_else(|| format!("no object: {value}"))?;
    let unknown = object.keys().find(|key| !fields.contains(&key.as_str()));
    unknown.map_or(Ok(()), |key| Err(format!("Unknown name \"{key}\": Cannot find field.")))
}

/// What is at a path; null where nothing is.
pub(in crate::model) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    value.pointer(path).unwrap_or(&Value::Null)
}

/// The elements of a list; none where it is none.
pub(in crate::model) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
