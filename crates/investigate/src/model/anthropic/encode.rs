//! A conversation as a request of the Messages API.
//!
//! Anthropic wants to see a turn with signed thoughts again, block by block, together with what preceded it.
//! A signature holds for a thought only as long as the system prompt, the tools and the messages before it are the same; the
//! provider rejects the request otherwise. The digest of what was sent decides here, before it is sent: after a compaction the
//! thoughts behind it are left out, without a failed request.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::anthropic::client::PROVIDER;
use crate::model::{Ask, Call, Carry, Message, ToolResult, ToolSpec};
use ghost_base::Digest;

/// The longest name of a tool.
const MAX_NAME_CHARS: usize = 64;

/// A request, and the digest of everything in it that a thought of its answer will depend on.
pub(super) struct Request {
    pub(super) body: Value,
    pub(super) before: Digest,
    /// Thoughts of former turns are in it.
    pub(super) has_thoughts: bool,
}

/// Whether former thoughts are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Former {
    Thoughts,
    Words,
}

/// Encodes a conversation.
pub(super) fn request(model: &str, ask: &Ask, former: Former) -> Request {
    let mut messages = Messages::new(model, ask);
    let mut rest = ask.messages.as_slice();
    while let [message, behind @ ..] = rest {
        rest = behind;
        match message {
            Message::User { text } => messages.user(words(text)),
            // Results without their calls would be rejected, and say nothing.
            Message::Results { .. } => {}
            Message::Assistant { text, calls, carry } => {
                let carry = carry.as_ref().filter(|_| former == Former::Thoughts);
                let carried = Thoughts::reopen(carry, model, messages.before, calls);
                messages.has_thoughts |= carried.is_some();
                messages.push("assistant", carried.unwrap_or_else(|| spoken(text, calls)));
                let results = match behind {
                    [Message::Results { results }, behind @ ..] => {
                        rest = behind;
                        results.as_slice()
                    }
                    _ => &[],
                };
                messages.user(calls.iter().map(|call| answered(call, results)).collect());
            }
        }
    }
    messages.finish(ask)
}

/// The messages so far. Roles alternate: what the same role says next is appended to what it said.
struct Messages<'a> {
    model: &'a str,
    list: Vec<(&'static str, Vec<Value>)>,
    /// The digest of the system prompt, the tools and the messages so far.
    before: Digest,
    has_thoughts: bool,
}

impl<'a> Messages<'a> {
    fn new(model: &'a str, ask: &Ask) -> Self {
        let tools = tools(&ask.tools).to_string();
        let before = Digest::of_fields([ask.system.as_str(), &tools]);
        Self { model, list: Vec::new(), before, has_thoughts: false }
    }

    fn user(&mut self, blocks: Vec<Value>) {
        self.push("user", blocks);
    }

    fn push(&mut self, role: &'static str, blocks: Vec<Value>) {
        for block in blocks {
            self.before = Digest::of_fields([&*self.before.to_string(), role, &block.to_string()]);
            match self.list.last_mut() {
                Some((last, list)) if *last == role => list.push(block),
                Some(_) | None => self.list.push((role, vec![block])),
            }
        }
    }

    fn finish(mut self, ask: &Ask) -> Request {
        // The next request begins with all of this one: it is read from the cache up to here.
        if let Some(("user", blocks)) = self.list.last_mut()
            && let Some(Value::Object(block)) = blocks.last_mut()
        {
            block.insert("cache_control".to_owned(), cached());
        }
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("max_tokens".to_owned(), json!(ask.max_output_tokens.max(1)));
        body.insert("stream".to_owned(), json!(true));
        if !ask.system.trim().is_empty() {
            let system = json!([{"type": "text", "text": ask.system, "cache_control": cached()}]);
            body.insert("system".to_owned(), system);
        }
        if !ask.tools.is_empty() {
            body.insert("tools".to_owned(), tools(&ask.tools));
        }
        let message = |(role, content): (&str, Vec<Value>)| json!({"role": role, "content": content});
        let messages: Vec<_> = self.list.into_iter().map(message).collect();
        body.insert("messages".to_owned(), json!(messages));
        Request { body: Value::Object(body), before: self.before, has_thoughts: self.has_thoughts }
    }
}

fn cached() -> Value {
    json!({"type": "ephemeral"})
}

/// Encodes the tools. The mark on the last one covers them all.
fn tools(specs: &[ToolSpec]) -> Value {
    let mut tools: Vec<_> = specs
        .iter()
        .map(|spec| json!({"name": spec.name, "description": spec.description, "input_schema": spec.parameters}))
        .collect();
    if let Some(Value::Object(tool)) = tools.last_mut() {
        tool.insert("cache_control".to_owned(), cached());
    }
    Value::Array(tools)
}

/// Encodes words; a text of blanks is rejected and left out.
fn words(text: &str) -> Vec<Value> {
    if text.trim().is_empty() { Vec::new() } else { vec![json!({"type": "text", "text": text})] }
}

/// Encodes a turn without thoughts.
fn spoken(text: &str, calls: &[Call]) -> Vec<Value> {
    let mut blocks = words(text.trim_end());
    blocks.extend(calls.iter().map(|call| {
        json!({"type": "tool_use", "id": id(&call.id), "name": name(&call.tool), "input": object(&call.arguments)})
    }));
    blocks
}

/// Returns arguments as an object, which the interface insists on. The model reads that it wrote none.
pub(super) fn object(arguments: &Value) -> Value {
    if arguments.is_object() { arguments.clone() } else { json!({ "not_an_object": arguments }) }
}

/// Encodes the result of a call. A call without one would make every later request fail.
fn answered(call: &Call, results: &[ToolResult]) -> Value {
    let found = results.iter().find(|result| result.id == call.id);
    let (content, is_error) =
        found.map_or(("no result was recorded", true), |found| (found.content.as_str(), found.is_error));
    let mut block = json!({"type": "tool_result", "tool_use_id": id(&call.id), "content": content});
    if let (true, Value::Object(block)) = (is_error, &mut block) {
        block.insert("is_error".to_owned(), json!(true));
    }
    block
}

/// Makes a name of a call that is allowed here. Other providers, and models, allow themselves more.
pub(super) fn id(id: &str) -> String {
    let plain = !id.is_empty() && id.chars().all(is_plain);
    if plain { id.to_owned() } else { format!("call_{}", Digest::of(id)) }
}

/// Makes a name of a tool that is allowed here.
fn name(tool: &str) -> String {
    let name: String =
        tool.chars().take(MAX_NAME_CHARS).map(|char| if is_plain(char) { char } else { '_' }).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Tells whether a tool may be offered under this name.
pub(super) fn is_name(name: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}

/// The value of a [`Carry`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Thoughts {
    /// The model that thought.
    pub(super) model: String,
    /// The digest of everything before the turn, in hexadecimal.
    pub(super) before: String,
    /// The turn's content as it came.
    pub(super) blocks: Vec<Value>,
}

impl Thoughts {
    /// Wraps a turn's content, nothing where it has no thought.
    pub(super) fn wrap(model: &str, before: Digest, blocks: Vec<Value>) -> Option<Carry> {
        if !blocks.iter().any(is_thought) {
            return None;
        }
        let thoughts = Self { model: model.to_owned(), before: before.to_string(), blocks };
        let value = serde_json::to_value(thoughts).ok()?;
        Some(Carry { provider: PROVIDER.to_owned(), value })
    }

    /// Returns a turn's content where it may be sent again: to the same model, behind the same messages, with the same calls.
    pub(super) fn reopen(
        carry: Option<&Carry>,
        model: &str,
        before: Digest,
        calls: &[Call],
    ) -> Option<Vec<Value>> {
        let carry = carry.filter(|carry| carry.provider == PROVIDER)?;
        let thoughts: Self = serde_json::from_value(carry.value.clone()).ok()?;
        let ids = thoughts.blocks.iter().filter(|block| kind(block) == "tool_use");
        let ids = ids.map(|block| block.get("id").and_then(Value::as_str).unwrap_or_default());
        let same = thoughts.model == model
            && thoughts.before == before.to_string()
            && calls.iter().all(|call| id(&call.id) == call.id)
            && ids.eq(calls.iter().map(|call| call.id.as_str()));
        same.then_some(thoughts.blocks)
    }
}

/// Names the kind of a block.
pub(super) fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn is_thought(block: &Value) -> bool {
    matches!(kind(block), "thinking" | "redacted_thinking")
}
