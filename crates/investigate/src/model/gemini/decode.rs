//! A turn out of the chunks in which Gemini writes it.

use serde_json::{Value, json};

use crate::model::call::{Draft, Turn};
use crate::model::{Listener, Stop, Usage};

/// Collects the chunks of a turn.
#[derive(Debug, Default)]
pub(super) struct Reader {
    text: String,
    parts: Vec<Value>,
    reason: Option<String>,
    detail: Option<String>,
    blocked: Option<String>,
    usage: Usage,
}

/// What became of a turn.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    Whole(Turn),
    /// The stream was over before the turn was.
    BrokeOff,
    /// Signed thoughts were missing from the question.
    Unsigned,
}

impl Reader {
    /// Reads the next chunk.
    pub(super) fn feed(&mut self, chunk: &Value, listener: &dyn Listener) {
        if let Some(usage) = chunk.get("usageMetadata") {
            self.count(usage);
        }
        if let Some(reason) = word(chunk.get("promptFeedback"), "blockReason") {
            let detail = word(chunk.get("promptFeedback"), "blockReasonMessage");
            self.blocked = Some(said(&reason, detail.as_deref()));
        }
        let candidates = chunk.get("candidates").and_then(Value::as_array);
        let Some(candidate) = candidates.and_then(|list| list.first()) else {
            return;
        };
        let parts = candidate.get("content").and_then(|content| content.get("parts"));
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            self.part(part, listener);
        }
        if let Some(reason) = word(Some(candidate), "finishReason") {
            self.reason = Some(reason);
        }
        if let Some(detail) = word(Some(candidate), "finishMessage") {
            self.detail = Some(detail);
        }
    }

    fn part(&mut self, part: &Value, listener: &dyn Listener) {
        if let Some(words) = part.get("text").and_then(Value::as_str) {
            if !is_thought(part) {
                self.text.push_str(words);
                listener.text(words);
            }
            if self.joins(part) {
                return;
            }
        }
        self.parts.push(part.clone());
    }

    /// Joins words to the words before. A signed part stays alone, because its signature belongs to this very part.
    fn joins(&mut self, part: &Value) -> bool {
        let Some(last) = self.parts.last_mut() else {
            return false;
        };
        if !plain(part) || !plain(last) || is_thought(part) != is_thought(last) {
            return false;
        }
        let (Some(Value::String(before)), Some(words)) = (last.get_mut("text"), part["text"].as_str()) else {
            return false;
        };
        before.push_str(words);
        true
    }

    /// The counts of a chunk stand for the whole turn so far. Zeros are not written.
    fn count(&mut self, usage: &Value) {
        let number = |key: &str| usage.get(key).and_then(Value::as_u64);
        if let Some(input) = number("promptTokenCount") {
            self.usage.input = Some(input.saturating_add(number("toolUsePromptTokenCount").unwrap_or(0)));
            self.usage.cached = Some(number("cachedContentTokenCount").unwrap_or(0));
        }
        let written = number("candidatesTokenCount");
        let thought = number("thoughtsTokenCount");
        if written.is_some() || thought.is_some() {
            self.usage.output = Some(written.unwrap_or(0).saturating_add(thought.unwrap_or(0)));
        }
    }

    /// Tells whether the end was announced.
    pub(super) fn is_over(&self) -> bool {
        self.reason.is_some() || self.blocked.is_some()
    }

    /// Returns the turn, if it is one.
    pub(super) fn finish(self, model: &str) -> End {
        if let Some(why) = self.blocked {
            return End::Whole(gone(self.text, self.usage, Stop::Refused { why }));
        }
        let Some(reason) = self.reason else {
            return End::BrokeOff;
        };
        let calls: Vec<Draft> =
            self.parts.iter().filter_map(|part| part.get("functionCall")).map(draft).collect();
        let why = said(&reason, self.detail.as_deref());
        let stop = match reason.as_str() {
            "STOP" if calls.is_empty() => Stop::End,
            "STOP" => Stop::Calls,
            // A call arrives whole or not at all: what the limit cut off is not among them.
            "MAX_TOKENS" => Stop::Length,
            "MISSING_THOUGHT_SIGNATURE" => return End::Unsigned,
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE" => {
                return End::Whole(gone(self.text, self.usage, Stop::Malformed { why }));
            }
            // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE, OTHER, and reasons yet to come.
            _ => return End::Whole(gone(self.text, self.usage, Stop::Refused { why })),
        };
        let carry = (!self.parts.is_empty()).then(|| json!({ "model": model, "parts": self.parts }));
        End::Whole(Turn { text: self.text, calls, carry, usage: self.usage, stop })
    }
}

/// A turn that was thrown away: its words may be shown, but nothing of it runs or goes back.
fn gone(text: String, usage: Usage, stop: Stop) -> Turn {
    Turn { text, calls: Vec::new(), carry: None, usage, stop }
}

fn said(reason: &str, detail: Option<&str>) -> String {
    match detail {
        Some(detail) => format!("{reason}: {detail}"),
        None => reason.to_owned(),
    }
}

fn word(value: Option<&Value>, key: &str) -> Option<String> {
    let text = value?.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn is_thought(part: &Value) -> bool {
    part.get("thought").and_then(Value::as_bool).unwrap_or(false)
}

/// Words and nothing else.
fn plain(part: &Value) -> bool {
    part.as_object().is_some_and(|part| part.keys().all(|key| key == "text" || key == "thought"))
}

fn draft(call: &Value) -> Draft {
    let arguments = match call.get("args") {
        None | Some(Value::Null) => json!({}),
        Some(object @ Value::Object(_)) => object.clone(),
        Some(other) => Value::String(other.to_string()),
    };
    Draft {
        id: word(Some(call), "id"),
        tool: call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Silent;

    fn read(chunks: &[Value]) -> End {
        let mut reader = Reader::default();
        for chunk in chunks {
            reader.feed(chunk, &Silent);
        }
        reader.finish("m")
    }

    fn chunk(parts: Value) -> Value {
        json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }] })
    }

    fn stop(reason: &str) -> Value {
        json!({ "candidates": [{ "finishReason": reason, "finishMessage": "m", "index": 0 }] })
    }

    #[track_caller]
    fn whole(chunks: &[Value]) -> Turn {
        match read(chunks) {
            End::Whole(turn) => turn,
            other @ (End::BrokeOff | End::Unsigned) => panic!("{other:?}"),
        }
    }

    #[test]
    fn signatures_stay_with_their_parts() {
        let signed = json!({ "functionCall": { "name": "a", "args": {} }, "thoughtSignature": "c2ln" });
        let turn = whole(&[
            chunk(json!([{ "text": "a plan", "thought": true }])),
            chunk(json!([{ "text": "So" }])),
            chunk(json!([{ "text": " it is." }])),
            chunk(json!([{ "text": "", "thoughtSignature": "dGV4dA==" }])),
            chunk(json!([signed.clone()])),
            chunk(json!([{ "functionCall": { "id": "7", "name": "b" } }])),
            stop("STOP"),
        ]);
        assert_eq!(turn.text, "So it is.");
        assert_eq!(turn.stop, Stop::Calls);
        let call = |id: Option<&str>, tool: &str| Draft {
            id: id.map(str::to_owned),
            tool: tool.to_owned(),
            arguments: json!({}),
        };
        assert_eq!(turn.calls, [call(None, "a"), call(Some("7"), "b")]);
        let parts = json!([
            { "text": "a plan", "thought": true },
            { "text": "So it is." },
            { "text": "", "thoughtSignature": "dGV4dA==" },
            signed,
            { "functionCall": { "id": "7", "name": "b" } },
        ]);
        assert_eq!(turn.carry, Some(json!({ "model": "m", "parts": parts })));
    }

    #[test]
    fn each_reason_has_its_meaning() {
        let call = || chunk(json!([{ "functionCall": { "name": "a", "args": {} } }]));
        let why = |reason: &str| format!("{reason}: m");
        assert_eq!(whole(&[stop("STOP")]).stop, Stop::End);
        let cut = whole(&[call(), stop("MAX_TOKENS")]);
        assert_eq!((cut.stop, cut.calls.len()), (Stop::Length, 1));
        for reason in ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "OTHER", "NEW_REASON"] {
            let turn = whole(&[call(), stop(reason)]);
            assert_eq!((turn.stop, turn.calls), (Stop::Refused { why: why(reason) }, Vec::new()));
        }
        for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
            let turn = whole(&[call(), stop(reason)]);
            assert_eq!((turn.stop, turn.carry), (Stop::Malformed { why: why(reason) }, None));
        }
        assert_eq!(read(&[stop("MISSING_THOUGHT_SIGNATURE")]), End::Unsigned);
    }

    #[test]
    fn a_blocked_prompt_is_a_refusal_and_silence_is_none() {
        let blocked = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } });
        assert_eq!(whole(&[blocked]).stop, Stop::Refused { why: "PROHIBITED_CONTENT".to_owned() });
        assert_eq!(read(&[json!({ "candidates": [] })]), End::BrokeOff);
        assert_eq!(read(&[chunk(json!([{ "text": "So" }]))]), End::BrokeOff);
        assert_eq!(read(&[json!([1]), json!("x"), json!({ "candidates": [null] })]), End::BrokeOff);
    }

    #[test]
    fn thoughts_and_the_cache_are_counted() {
        let count = |thoughts: u64| {
            json!({ "usageMetadata": { "promptTokenCount": 90, "cachedContentTokenCount": 60,
                "candidatesTokenCount": 7, "thoughtsTokenCount": thoughts, "totalTokenCount": 100 } })
        };
        let usage = whole(&[count(1), count(3), stop("STOP")]).usage;
        assert_eq!(usage, Usage { input: Some(90), cached: Some(60), cache_written: None, output: Some(10) });
        assert_eq!(whole(&[stop("STOP")]).usage, Usage::default());
    }
}
