//! The provider under test, and streams as the documentation describes them.

use ghost_base::Secret;
use ghost_investigate::model::anthropic::{Anthropic, Options};
use ghost_investigate::model::{Answer, Call, Carry, Message, ToolResult};
use serde_json::{Value, json};

use crate::model::server::{Reply, Server, egress, retries, timeouts};

/// A key whose shape no rule of redaction knows.
pub(super) const KEY: &str = "plain-word-key-9";
pub(super) const MODEL: &str = "claude-test-1";

pub(super) fn options(base: &str) -> Options {
    Options {
        model: MODEL.to_owned(),
        key: Secret::new(KEY),
        base: Some(base.to_owned()),
        window: 200_000,
        retries: retries(),
        timeouts: timeouts(),
        egress: egress(),
    }
}

pub(super) fn provider(server: &Server) -> Anthropic {
    Anthropic::new(options(&server.url())).unwrap()
}

/// A stream of events, as text.
#[derive(Default)]
pub(super) struct Stream {
    text: String,
    blocks: usize,
}

impl Stream {
    /// Begins as every stream does.
    pub(super) fn new() -> Self {
        Self::with_usage(&json!({"input_tokens": 25, "output_tokens": 1}))
    }

    pub(super) fn with_usage(usage: &Value) -> Self {
        let message = json!({
            "id": "msg_01", "type": "message", "role": "assistant", "content": [], "model": MODEL,
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        });
        Self::default()
            .event(&json!({"type": "message_start", "message": message}))
            .event(&json!({"type": "ping"}))
    }

    pub(super) fn event(mut self, event: &Value) -> Self {
        let name = event["type"].as_str().unwrap();
        self.text.push_str(&format!("event: {name}\ndata: {event}\n\n"));
        self
    }

    fn block(mut self, start: &Value, fragments: &[Value], is_closed: bool) -> Self {
        let index = self.blocks;
        self.blocks += 1;
        self = self.event(&json!({"type": "content_block_start", "index": index, "content_block": start}));
        for fragment in fragments {
            self = self.event(&json!({"type": "content_block_delta", "index": index, "delta": fragment}));
        }
        if is_closed { self.event(&json!({"type": "content_block_stop", "index": index})) } else { self }
    }

    pub(super) fn words(self, fragments: &[&str]) -> Self {
        let fragments: Vec<_> =
            fragments.iter().map(|text| json!({"type": "text_delta", "text": text})).collect();
        self.block(&json!({"type": "text", "text": ""}), &fragments, true)
    }

    pub(super) fn call(self, id: &str, name: &str, fragments: &[&str]) -> Self {
        self.call_that(id, name, fragments, true)
    }

    /// A call that ends without its end.
    pub(super) fn half_call(self, id: &str, name: &str, fragments: &[&str]) -> Self {
        self.call_that(id, name, fragments, false)
    }

    fn call_that(self, id: &str, name: &str, fragments: &[&str], is_closed: bool) -> Self {
        let fragment = |json: &&str| json!({"type": "input_json_delta", "partial_json": json});
        let fragments: Vec<_> = fragments.iter().map(fragment).collect();
        self.block(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}), &fragments, is_closed)
    }

    pub(super) fn thought(self, text: &str, signature: &[&str]) -> Self {
        let mut fragments: Vec<_> = Vec::new();
        if !text.is_empty() {
            fragments.push(json!({"type": "thinking_delta", "thinking": text}));
        }
        fragments.extend(signature.iter().map(|part| json!({"type": "signature_delta", "signature": part})));
        self.block(&json!({"type": "thinking", "thinking": "", "signature": ""}), &fragments, true)
    }

    pub(super) fn hidden_thought(self, data: &str) -> Self {
        self.block(&json!({"type": "redacted_thinking", "data": data}), &[], true)
    }

    /// Ends as every stream does.
    pub(super) fn end(self, reason: &str) -> Self {
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        self.end_with(&delta, &json!({"output_tokens": 15}))
    }

    pub(super) fn end_with(self, delta: &Value, usage: &Value) -> Self {
        self.event(&json!({"type": "message_delta", "delta": delta, "usage": usage}))
            .event(&json!({"type": "message_stop"}))
    }

    pub(super) fn reply(&self) -> Reply {
        Reply::events(&self.text, 7)
    }

    /// The same, in chunks of another length.
    pub(super) fn reply_by(&self, fragment: usize) -> Reply {
        Reply::events(&self.text, fragment)
    }
}

/// A short turn.
pub(super) fn fine() -> Reply {
    Stream::new().words(&["fine"]).end("end_turn").reply()
}

/// An error as the documentation shows it.
pub(super) fn error(status: u16, kind: &str, message: &str) -> Reply {
    let error = json!({"type": kind, "message": message});
    Reply::json(status, &json!({"type": "error", "error": error, "request_id": "req_01"}))
}

pub(super) fn call(id: &str, tool: &str, arguments: Value) -> Call {
    Call { id: id.to_owned(), tool: tool.to_owned(), arguments }
}

pub(super) fn said(text: &str, calls: Vec<Call>, carry: Option<Carry>) -> Message {
    Message::Assistant { text: text.to_owned(), calls, carry }
}

/// A turn as the next question has it.
pub(super) fn again(answer: &Answer) -> Message {
    said(&answer.text, answer.calls.clone(), answer.carry.clone())
}

pub(super) fn results(list: &[(&str, &str, bool)]) -> Message {
    let result = |(id, content, is_error): &(&str, &str, bool)| ToolResult {
        id: (*id).to_owned(),
        tool: "run_shell_cmd".to_owned(),
        content: (*content).to_owned(),
        is_error: *is_error,
    };
    Message::Results { results: list.iter().map(result).collect() }
}
