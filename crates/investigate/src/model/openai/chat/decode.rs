//! A turn out of the chunks of a chat completion, as OpenAI writes them and as others do.

use serde_json::Value;

use crate::model::call::{Draft, Turn, arguments};
use crate::model::{Listener, Stop, Usage};

/// More calls than any model makes in a turn.
const MAX_CALLS_PER_TURN: usize = 256;

/// Collects the chunks of a turn.
#[derive(Debug, Default)]
pub(in crate::model::openai) struct Reader {
    text: String,
    refusal: String,
    calls: Vec<PartialCall>,
    reason: Option<String>,
    usage: Usage,
}

/// A call, as far as it was written.
#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: Option<String>,
    tool: String,
    text: String,
    /// Arguments that came as an object.
    object: Option<Value>,
}

impl Reader {
    /// Reads the next chunk, or returns the error that it holds.
    pub(in crate::model::openai) fn feed(
        &mut self,
        chunk: &Value,
        listener: &dyn Listener,
    ) -> Result<(), Value> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(error.clone());
        }
        self.count(chunk.get("usage"));
        // Chunks without choices tell the usage, or what Azure thinks of the prompt.
        let choices = chunk.get("choices").and_then(Value::as_array);
        let Some(choice) = choices.and_then(|list| list.first()) else {
            return Ok(());
        };
        if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
            return Err(error.clone());
        }
        // A server that does not stream answers with a whole message.
        let delta = choice.get("delta").filter(|delta| delta.is_object()).or_else(|| choice.get("message"));
        if let Some(delta) = delta {
            self.delta(delta, listener);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.reason = Some(reason.to_owned());
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, listener: &dyn Listener) {
        match delta.get("content") {
            Some(Value::String(words)) => self.say(words, listener),
            Some(Value::Array(parts)) => {
                for words in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                    self.say(words, listener);
                }
            }
            Some(_) | None => {}
        }
        if let Some(words) = delta.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(words);
        }
        for delta in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.add_call_delta(delta);
        }
    }

    fn say(&mut self, words: &str, listener: &dyn Listener) {
        if !words.is_empty() {
            self.text.push_str(words);
            listener.text(words);
        }
    }

    fn add_call_delta(&mut self, delta: &Value) {
        let function = delta.get("function").unwrap_or(delta);
        let index = delta.get("index").and_then(Value::as_u64);
        let id = delta.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let tool = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(call) = self.call(index, id, tool) else {
            return;
        };
        call.id = call.id.take().or_else(|| id.map(str::to_owned));
        if call.tool.is_empty() {
            tool.clone_into(&mut call.tool);
        }
        match function.get("arguments") {
            Some(Value::String(text)) => call.text.push_str(text),
            Some(object @ Value::Object(_)) => call.object = Some(object.clone()),
            Some(_) | None => {}
        }
    }

    /// Finds the call that a delta continues, or begins one.
    ///
    /// OpenAI counts by index. Some servers give none, others give each call the same: then another name begins another call,
    /// and so does a tool where there was no name.
    fn call(&mut self, index: Option<u64>, id: Option<&str>, tool: &str) -> Option<&mut PartialCall> {
        let found = match (index, id) {
            (Some(_), _) => self.calls.iter().rposition(|call| call.index == index),
            (None, Some(id)) => self.calls.iter().rposition(|call| call.id.as_deref() == Some(id)),
            (None, None) if tool.is_empty() => self.calls.len().checked_sub(1),
            (None, None) => None,
        };
        let same = |call: &PartialCall| match (id, call.id.as_deref()) {
            (Some(now), Some(before)) => now == before,
            (Some(_) | None, Some(_) | None) => true,
        };
        let found = found.filter(|at| self.calls.get(*at).is_some_and(same));
        if found.is_none() {
            if self.calls.len() >= MAX_CALLS_PER_TURN {
                return None;
            }
            self.calls.push(PartialCall { index, ..PartialCall::default() });
        }
        let at = found.unwrap_or(self.calls.len().saturating_sub(1));
        self.calls.get_mut(at)
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
        self.usage = Usage {
            input: number("/prompt_tokens").or(self.usage.input),
            cached: number("/prompt_tokens_details/cached_tokens").or(self.usage.cached),
            cache_written: None,
            output: number("/completion_tokens").or(self.usage.output),
        };
    }

    /// Tells whether the end was announced.
    pub(in crate::model::openai) fn is_over(&self) -> bool {
        self.reason.is_some()
    }

    /// Returns the turn, or nothing if the stream was over before it. `announced` says that the server announced the end.
    pub(in crate::model::openai) fn finish(self, announced: bool) -> Option<Turn> {
        let silent = self.text.is_empty() && self.refusal.is_empty() && self.calls.is_empty();
        if self.reason.is_none() && (!announced || silent) {
            return None;
        }
        let reason = self.reason.as_deref().unwrap_or("stop");
        if reason == "content_filter" || !self.refusal.is_empty() {
            let why = if self.refusal.is_empty() { reason.to_owned() } else { self.refusal };
            let stop = Stop::Refused { why };
            return Some(Turn { text: self.text, calls: Vec::new(), carry: None, usage: self.usage, stop });
        }
        let mut calls = self.calls;
        if reason == "length" && calls.last().is_some_and(PartialCall::is_cut_off) {
            calls.pop();
        }
        let stop = match (reason, calls.is_empty()) {
            ("length", _) => Stop::Length,
            // Not every server says `tool_calls` where there are some.
            (_, false) => Stop::Calls,
            (_, true) => Stop::End,
        };
        let calls = calls.into_iter().map(PartialCall::draft).collect();
        Some(Turn { text: self.text, calls, carry: None, usage: self.usage, stop })
    }
}

impl PartialCall {
    /// Tells whether the end of the arguments is missing.
    fn is_cut_off(&self) -> bool {
        self.object.is_none() && (self.text.trim().is_empty() || !arguments(&self.text).is_object())
    }

    fn draft(self) -> Draft {
        let arguments = self.object.unwrap_or_else(|| arguments(&self.text));
        Draft { id: self.id, tool: self.tool, arguments }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Silent;

    fn read(chunks: &[Value]) -> Option<Turn> {
        let mut reader = Reader::default();
        for chunk in chunks {
            reader.feed(chunk, &Silent).unwrap();
        }
        reader.finish(true)
    }

    fn delta(delta: Value) -> Value {
        json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }], "usage": null })
    }

    fn calls(calls: Value) -> Value {
        delta(json!({ "tool_calls": calls }))
    }

    fn end(reason: &str) -> Value {
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
    }

    fn draft(id: Option<&str>, tool: &str, arguments: Value) -> Draft {
        Draft { id: id.map(str::to_owned), tool: tool.to_owned(), arguments }
    }

    #[test]
    fn deltas_of_calls_find_their_call_by_index() {
        let turn = read(&[
            delta(json!({ "role": "assistant", "content": null })),
            calls(
                json!([{ "index": 0, "id": "a", "type": "function", "function": { "name": "look", "arguments": "" } }]),
            ),
            calls(json!([{ "index": 0, "function": { "arguments": "{\"x\":" } }])),
            calls(json!([{ "index": 1, "id": "b", "function": { "name": "ask", "arguments": "{}" } }])),
            calls(json!([{ "index": 0, "function": { "arguments": " 1}" } }])),
            end("tool_calls"),
        ]);
        let turn = turn.unwrap();
        let expected = [draft(Some("a"), "look", json!({"x": 1})), draft(Some("b"), "ask", json!({}))];
        assert_eq!((turn.stop, turn.calls.as_slice()), (Stop::Calls, expected.as_slice()));
    }

    #[test]
    fn calls_that_share_an_index_are_distinguished_by_their_names() {
        let turn = read(&[
            calls(json!([{ "index": 0, "id": "a", "function": { "name": "look", "arguments": "{}" } }])),
            calls(
                json!([{ "index": 0, "id": "b", "function": { "name": "look", "arguments": { "x": 1 } } }]),
            ),
            end("stop"),
        ]);
        let turn = turn.unwrap();
        let expected = [draft(Some("a"), "look", json!({})), draft(Some("b"), "look", json!({"x": 1}))];
        assert_eq!((turn.stop, turn.calls.as_slice()), (Stop::Calls, expected.as_slice()));
    }

    #[test]
    fn calls_without_index_and_name_are_distinguished_by_their_tools() {
        let turn = read(&[
            calls(json!([{ "function": { "name": "look", "arguments": "{\"x\"" } }])),
            calls(json!([{ "function": { "arguments": ":1}" } }])),
            calls(
                json!([{ "function": { "name": "ask", "arguments": "oops" } }, { "id": "", "name": "end" }]),
            ),
            end("tool_calls"),
        ]);
        let expected = [
            draft(None, "look", json!({"x": 1})),
            draft(None, "ask", json!("oops")),
            draft(None, "end", json!({})),
        ];
        assert_eq!(turn.unwrap().calls, expected);
    }

    #[test]
    fn a_call_that_the_limit_cut_off_is_left_out() {
        for (arguments, left) in [("{\"x\":", 1), ("", 1), ("{\"x\":1}", 2)] {
            let turn = read(&[
                calls(json!([{ "index": 0, "id": "a", "function": { "name": "look", "arguments": "{}" } }])),
                calls(
                    json!([{ "index": 1, "id": "b", "function": { "name": "look", "arguments": arguments } }]),
                ),
                end("length"),
            ]);
            let turn = turn.unwrap();
            assert_eq!((turn.stop, turn.calls.len()), (Stop::Length, left), "{arguments}");
        }
    }

    #[test]
    fn what_servers_do_differently_is_understood() {
        let parts =
            delta(json!({ "content": [{ "type": "text", "text": "So" }], "reasoning_content": "hidden" }));
        let turn = read(&[json!({ "choices": [], "prompt_filter_results": [] }), parts]).unwrap();
        assert_eq!((turn.text.as_str(), turn.stop, turn.usage), ("So", Stop::End, Usage::default()));
        let whole = json!({ "choices": [{ "message": { "content": "So" }, "finish_reason": "stop" }] });
        assert_eq!(read(&[whole]).unwrap().text, "So");
        assert_eq!(read(&[json!([1]), json!(null), json!({ "choices": [null] })]), None);
    }

    #[test]
    fn a_refusal_runs_nothing() {
        let call =
            calls(json!([{ "index": 0, "id": "a", "function": { "name": "look", "arguments": "{}" } }]));
        let turn = read(&[call.clone(), end("content_filter")]).unwrap();
        assert_eq!((turn.stop, turn.calls.len()), (Stop::Refused { why: "content_filter".to_owned() }, 0));
        let turn = read(&[delta(json!({ "refusal": "No." })), end("stop")]).unwrap();
        assert_eq!(turn.stop, Stop::Refused { why: "No.".to_owned() });
    }

    #[test]
    fn a_turn_without_an_end_is_none() {
        let mut reader = Reader::default();
        reader.feed(&delta(json!({ "content": "So" })), &Silent).unwrap();
        assert_eq!(reader.finish(false), None);
        let mut reader = Reader::default();
        let error = json!({ "error": { "code": 502, "message": "m" }, "choices": [] });
        assert_eq!(reader.feed(&error, &Silent), Err(json!({ "code": 502, "message": "m" })));
    }

    #[test]
    fn the_cache_is_counted_and_the_last_count_stands() {
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 90, "completion_tokens": 8,
            "prompt_tokens_details": { "cached_tokens": 64 } } });
        let turn = read(&[end("stop"), usage]).unwrap();
        let expected = Usage { input: Some(90), cached: Some(64), cache_written: None, output: Some(8) };
        assert_eq!(turn.usage, expected);
    }
}
