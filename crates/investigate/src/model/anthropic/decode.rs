//! A stream of the Messages API as a turn.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::anthropic::encode::object;
use crate::model::{Call, Stop, Usage};

/// What an event brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Delta {
    /// Nothing to hear.
    Quiet,
    Words(String),
    End,
}

/// The turn so far.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    begun: bool,
    blocks: BTreeMap<u64, Block>,
    usage: Tokens,
    reason: Option<String>,
    details: Option<String>,
}

/// A turn that is complete.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DecodedTurn {
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Usage,
    pub(super) stop: Stop,
    /// The content as it has to be sent again.
    pub(super) blocks: Vec<Value>,
}

/// One block of the content.
#[derive(Debug)]
struct Block {
    kind: Kind,
    /// It was closed: what stands in it is everything.
    whole: bool,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Thought {
        text: String,
        signature: String,
    },
    Hidden(Value),
    Call {
        id: String,
        tool: String,
        input: Value,
        json: String,
    },
    /// Of a kind that nobody asked for.
    Other,
}

impl Decoder {
    /// Reads one event. Events and fields that are not known are passed over: the documentation reserves them.
    ///
    /// # Errors
    /// Fails where the stream is not as documented, and says why.
    pub(super) fn read(&mut self, event: &Value) -> Result<Delta, &'static str> {
        match string(event, "type") {
            "message_start" => {
                let message = event.get("message").ok_or("a message starts without one")?;
                if std::mem::replace(&mut self.begun, true) {
                    return Err("a second message starts");
                }
                self.usage.read(message.get("usage"));
                Ok(Delta::Quiet)
            }
            "content_block_start" => self.start(event),
            "content_block_delta" => self.delta(event),
            "content_block_stop" => {
                self.block(event)?.whole = true;
                Ok(Delta::Quiet)
            }
            "message_delta" => {
                self.usage.read(event.get("usage"));
                let delta = event.get("delta").ok_or("a message changes without a change")?;
                if let Some(reason) = delta.get("stop_reason").and_then(Value::as_str) {
                    self.reason = Some(reason.to_owned());
                }
                let details = delta.get("stop_details").or_else(|| event.get("stop_details"));
                if let Some(details) = details {
                    let words = [string(details, "explanation"), string(details, "category")];
                    self.details = words.into_iter().find(|word| !word.is_empty()).map(str::to_owned);
                }
                Ok(Delta::Quiet)
            }
            "message_stop" => Ok(Delta::End),
            _ => Ok(Delta::Quiet),
        }
    }

    fn start(&mut self, event: &Value) -> Result<Delta, &'static str> {
        let index = index(event)?;
        let content = event.get("content_block").ok_or("a block starts without content")?;
        let (kind, step) = match string(content, "type") {
            "text" => {
                let text = string(content, "text").to_owned();
                // Two blocks of words are two paragraphs.
                let apart = self
                    .blocks
                    .values()
                    .any(|block| matches!(&block.kind, Kind::Text(text) if !text.is_empty()));
                let words = format!("{}{text}", if apart { "\n\n" } else { "" });
                let step = if words.is_empty() { Delta::Quiet } else { Delta::Words(words) };
                (Kind::Text(text), step)
            }
            "thinking" => {
                let (text, signature) = (string(content, "thinking"), string(content, "signature"));
                (Kind::Thought { text: text.to_owned(), signature: signature.to_owned() }, Delta::Quiet)
            }
            "redacted_thinking" => (Kind::Hidden(content.clone()), Delta::Quiet),
            "tool_use" => {
                let (id, tool) = (string(content, "id").to_owned(), string(content, "name").to_owned());
                if id.is_empty() || tool.is_empty() {
                    return Err("a call has no name");
                }
                let input = content.get("input").cloned().unwrap_or(Value::Null);
                (Kind::Call { id, tool, input, json: String::new() }, Delta::Quiet)
            }
            _ => (Kind::Other, Delta::Quiet),
        };
        match self.blocks.insert(index, Block { kind, whole: false }) {
            Some(_) => Err("a block starts twice"),
            None => Ok(step),
        }
    }

    fn delta(&mut self, event: &Value) -> Result<Delta, &'static str> {
        let delta = event.get("delta").ok_or("a delta has no content")?;
        let block = self.block(event)?;
        if block.whole {
            return Err("a delta comes behind the end of its block");
        }
        match (string(delta, "type"), &mut block.kind) {
            ("text_delta", Kind::Text(text)) => {
                text.push_str(string(delta, "text"));
                return Ok(Delta::Words(string(delta, "text").to_owned()));
            }
            ("thinking_delta", Kind::Thought { text, .. }) => text.push_str(string(delta, "thinking")),
            ("signature_delta", Kind::Thought { signature, .. }) => {
                signature.push_str(string(delta, "signature"));
            }
            ("input_json_delta", Kind::Call { json, .. }) => json.push_str(string(delta, "partial_json")),
            ("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta", Kind::Other) => {}
            ("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta", _) => {
                return Err("a delta does not belong into its block");
            }
            _ => {}
        }
        Ok(Delta::Quiet)
    }

    fn block(&mut self, event: &Value) -> Result<&mut Block, &'static str> {
        self.blocks.get_mut(&index(event)?).ok_or("a delta belongs to no block")
    }

    /// Closes the turn.
    ///
    /// # Errors
    /// Fails where it has no beginning or no reason to end.
    pub(super) fn finish(self) -> Result<DecodedTurn, &'static str> {
        if !self.begun {
            return Err("the message has no beginning");
        }
        let reason = self.reason.ok_or("the message ends without a reason")?;
        let usage = self.usage.sum();
        let is_cut = matches!(reason.as_str(), "max_tokens" | "model_context_window_exceeded" | "pause_turn");
        let is_refused = reason == "refusal";
        let (mut text, mut calls, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        let last = self.blocks.keys().next_back().copied();
        for (index, block) in self.blocks {
            let is_end = is_cut && Some(index) == last;
            match block.kind {
                Kind::Text(words) if words.is_empty() => {}
                Kind::Text(words) => {
                    if !words.trim().is_empty() {
                        blocks.push(json!({"type": "text", "text": words}));
                    }
                    text.push(words);
                }
                // A thought that was cut off has no signature, and nobody would take it back.
                Kind::Thought { signature, .. } if signature.is_empty() => {}
                Kind::Thought { text, signature } => {
                    blocks.push(json!({"type": "thinking", "thinking": text, "signature": signature}));
                }
                Kind::Hidden(block) => blocks.push(block),
                Kind::Call { id, tool, input, json } => {
                    let Some(arguments) = arguments(input, &json, is_end || !block.whole) else { continue };
                    let input = object(&arguments);
                    if calls.iter().any(|call: &Call| call.id == id) {
                        return Err("two calls have the same name");
                    }
                    blocks.push(json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
                    calls.push(Call { id, tool, arguments });
                }
                Kind::Other => {}
            }
        }
        if is_refused {
            // What was begun before the refusal is not to be used.
            calls.clear();
            blocks.clear();
        }
        let stop = match reason.as_str() {
            "refusal" => {
                Stop::Refused { why: self.details.unwrap_or_else(|| "no reason was given".to_owned()) }
            }
            _ if is_cut => Stop::Length,
            _ if calls.is_empty() => Stop::End,
            _ => Stop::Calls,
        };
        Ok(DecodedTurn { text: text.join("\n\n"), calls, usage, stop, blocks })
    }
}

/// Reads a call's arguments: an object, or the text that was none; nothing where they may have been cut off.
fn arguments(input: Value, json: &str, may_be_cut: bool) -> Option<Value> {
    if json.trim().is_empty() {
        let is_full = input.as_object().is_some_and(|input| !input.is_empty());
        if may_be_cut && !is_full {
            return None;
        }
        return Some(if input.is_object() { input } else { Value::Object(Map::new()) });
    }
    match serde_json::from_str(json) {
        Ok(object @ Value::Object(_)) => Some(object),
        Ok(_) | Err(_) if may_be_cut => None,
        Ok(_) | Err(_) => Some(Value::String(json.to_owned())),
    }
}

fn string<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn index(event: &Value) -> Result<u64, &'static str> {
    event.get("index").and_then(Value::as_u64).ok_or("a block has no number")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One of the events that streams have, with fields that may be missing or wrong.
    fn event() -> impl Strategy<Value = Value> {
        let index = prop_oneof![(0..4_u64).prop_map(Value::from), Just(json!(null)), Just(json!("0"))];
        let word = prop_oneof![
            Just(json!("x")),
            Just(json!("{\"a\":")),
            Just(json!("1}")),
            Just(json!("")),
            Just(json!(7))
        ];
        let block = prop_oneof![
            Just("text"),
            Just("thinking"),
            Just("redacted_thinking"),
            Just("tool_use"),
            Just("new")
        ];
        let delta = prop_oneof![
            Just("text_delta"),
            Just("thinking_delta"),
            Just("signature_delta"),
            Just("input_json_delta"),
            Just("new")
        ];
        let kind = prop_oneof![
            Just("message_start"),
            Just("content_block_start"),
            Just("content_block_delta"),
            Just("content_block_stop"),
            Just("ping")
        ];
        (kind, index, word.clone(), word, block, delta).prop_map(|(kind, index, word, id, block, delta)| {
            json!({
                "type": kind,
                "index": index,
                "message": {"usage": {"input_tokens": index, "cache_read_input_tokens": u64::MAX}},
                "content_block": {"type": block, "id": id, "name": word, "text": word, "input": word, "data": word},
                "delta": {"type": delta, "text": word, "thinking": word, "signature": word, "partial_json": word},
            })
        })
    }

    proptest! {
        #[test]
        fn whatever_comes_a_turn_can_be_sent_again_or_is_none(
            events in proptest::collection::vec(event(), 0..24),
            reason in prop_oneof![Just("end_turn"), Just("tool_use"), Just("max_tokens"), Just("refusal"), Just("new")],
        ) {
            let mut decoder = Decoder::default();
            drop(decoder.read(&json!({"type": "message_start", "message": {}})));
            // A stream ends at the first event that cannot be read; here the others are read all the same.
            for event in &events {
                drop(decoder.read(event));
            }
            drop(decoder.read(&json!({"type": "message_delta", "delta": {"stop_reason": reason}})));
            let Ok(turn) = decoder.finish() else { return Ok(()) };
            let name = |block: &Value| string(block, "id").to_owned();
            let sent: Vec<_> = turn.blocks.iter().filter(|block| string(block, "type") == "tool_use").map(name).collect();
            let called: Vec<_> = turn.calls.iter().map(|call| call.id.clone()).collect();
            prop_assert_eq!(&sent, &called, "what is sent again has the calls that are answered");
            prop_assert!(turn.blocks.iter().all(|block| string(block, "type") != "thinking" || block["signature"] != ""));
            prop_assert_eq!(turn.stop == Stop::Calls, !turn.calls.is_empty() && reason != "max_tokens");
        }
    }
}

/// Tokens in the provider's words: `input` leaves out what the cache read and wrote.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    input: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
}

impl Tokens {
    /// Takes over what an event says. Numbers are sums so far, not differences.
    pub(super) fn read(&mut self, usage: Option<&Value>) {
        let number = |name: &str| usage?.get(name)?.as_u64();
        self.input = number("input_tokens").or(self.input);
        self.read = number("cache_read_input_tokens").or(self.read);
        self.written = number("cache_creation_input_tokens").or(self.written);
        self.output = number("output_tokens").or(self.output);
    }

    /// Returns the tokens in the port's words, in which those of the cache are part of the input.
    pub(super) fn sum(self) -> Usage {
        let cached = self.read.unwrap_or(0).saturating_add(self.written.unwrap_or(0));
        Usage {
            input: self.input.map(|input| input.saturating_add(cached)),
            cached: self.read,
            cache_written: self.written,
            output: self.output,
        }
    }
}
