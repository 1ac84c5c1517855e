//! A turn out of the events of a response.

use serde_json::{Value, json};

use crate::model::call::{Draft, Turn, arguments};
use crate::model::{Listener, Stop, Usage};

/// Collects the events of a turn.
#[derive(Debug, Default)]
pub(in crate::model::openai) struct Reader {
    text: String,
    refusal: String,
    items: Vec<Value>,
    end: Option<Value>,
}

/// What an event leads to.
#[derive(Debug, PartialEq)]
pub(in crate::model::openai) enum Progress {
    /// More is to come.
    More,
    Over,
    /// The provider gave up; this is its error.
    Failed(Value),
}

impl Reader {
    /// Reads the next event.
    pub(in crate::model::openai) fn feed(&mut self, event: &Value, listener: &dyn Listener) -> Progress {
        let delta = || event.get("delta").and_then(Value::as_str).unwrap_or_default();
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "response.output_text.delta" => {
                self.text.push_str(delta());
                listener.text(delta());
            }
            "response.refusal.delta" => self.refusal.push_str(delta()),
            "response.output_item.done" => self.items.extend(event.get("item").cloned()),
            "response.completed" | "response.incomplete" => {
                self.end = event.get("response").cloned();
                return Progress::Over;
            }
            "response.failed" => return Progress::Failed(failure(event.get("response").unwrap_or(event))),
            "error" => return Progress::Failed(failure(event)),
            // Beginnings, and ends of what was sent in deltas. An error without a type comes from servers in between.
            _ if event.get("error").is_some_and(|error| !error.is_null()) => {
                return Progress::Failed(failure(event));
            }
            _ => {}
        }
        Progress::More
    }

    /// Returns the turn, or nothing if the stream was over before it.
    pub(in crate::model::openai) fn finish(mut self, model: &str, host: &str) -> Option<Turn> {
        let end = self.end.take()?;
        if self.items.is_empty() {
            // Some servers tell items at the end only.
            self.items = end.get("output").and_then(Value::as_array).cloned().unwrap_or_default();
        }
        let usage = usage(end.get("usage"));
        let reason = end.get("incomplete_details").and_then(|details| details.get("reason"));
        let reason = reason.and_then(Value::as_str);
        let incomplete = reason.is_some() || end.get("status").is_some_and(|status| status == "incomplete");
        let (said, refused) = words(&self.items);
        let text = if said.is_empty() { self.text } else { said };
        let why = if refused.is_empty() { self.refusal } else { refused };
        if reason == Some("content_filter") || !why.is_empty() {
            let why = if why.is_empty() { "content_filter".to_owned() } else { why };
            return Some(Turn { text, calls: Vec::new(), carry: None, usage, stop: Stop::Refused { why } });
        }
        if incomplete {
            self.items.retain(|item| !is_cut_off(item));
        }
        // Reasoning without what it led to is refused.
        while self.items.last().is_some_and(|item| item["type"] == "reasoning") {
            self.items.pop();
        }
        let calls: Vec<Draft> =
            self.items.iter().filter(|item| item["type"] == "function_call").map(draft).collect();
        let stop = match (incomplete, calls.is_empty()) {
            (true, _) => Stop::Length,
            (false, true) => Stop::End,
            (false, false) => Stop::Calls,
        };
        let carry = carry(self.items, model, host);
        Some(Turn { text, calls, carry, usage, stop })
    }
}

/// Finds the error in an event, wherever the server put it.
fn failure(event: &Value) -> Value {
    match event.get("error") {
        Some(error) if !error.is_null() => error.clone(),
        _ => event.clone(),
    }
}

/// Returns what messages say, and what they refuse.
fn words(items: &[Value]) -> (String, String) {
    let (mut text, mut refusal) = (String::new(), String::new());
    let messages = items.iter().filter(|item| item["type"] == "message");
    let parts = messages.filter_map(|item| item.get("content")?.as_array()).flatten();
    for part in parts {
        text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
        refusal.push_str(part.get("refusal").and_then(Value::as_str).unwrap_or_default());
    }
    (text, refusal)
}

/// Tells whether the limit cut a call off: it says so, or its arguments are no object.
fn is_cut_off(item: &Value) -> bool {
    item["type"] == "function_call"
        && (item["status"] == "incomplete" || !draft(item).arguments.is_object() || item["arguments"] == "")
}

fn draft(item: &Value) -> Draft {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let arguments = match item.get("arguments") {
        Some(object @ Value::Object(_)) => object.clone(),
        Some(_) | None => arguments(text("arguments")),
    };
    Draft { id: Some(text("call_id").to_owned()), tool: text("name").to_owned(), arguments }
}

/// Returns the items to hand back.
///
/// Without its encrypted content an item of reasoning is only a name, of something that was never stored; the items after it
/// are refused without it. Then the turn is rebuilt instead. So it is where calls cannot be named.
fn carry(items: Vec<Value>, model: &str, host: &str) -> Option<Value> {
    let whole = |item: &Value| match item["type"].as_str() {
        Some("reasoning") => item["encrypted_content"].as_str().is_some_and(|content| !content.is_empty()),
        Some("function_call") => {
            item["call_id"].as_str().is_some_and(|id| !id.is_empty()) && item["arguments"].is_string()
        }
        _ => true,
    };
    let all = !items.is_empty() && items.iter().all(whole);
    all.then(|| json!({ "model": model, "host": host, "items": items }))
}

fn usage(usage: Option<&Value>) -> Usage {
    let Some(usage) = usage else {
        return Usage::default();
    };
    Usage {
        input: usage["input_tokens"].as_u64(),
        cached: usage.pointer("/input_tokens_details/cached_tokens").and_then(Value::as_u64),
        cache_written: None,
        output: usage["output_tokens"].as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Silent;

    fn read(events: &[Value]) -> Option<Turn> {
        let mut reader = Reader::default();
        for event in events {
            if reader.feed(event, &Silent) == Progress::Over {
                break;
            }
        }
        reader.finish("m", "h")
    }

    fn done(item: Value) -> Value {
        json!({ "type": "response.output_item.done", "item": item })
    }

    fn reasoning(content: Option<&str>) -> Value {
        json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": content })
    }

    fn call(arguments: &str, status: &str) -> Value {
        json!({ "type": "function_call", "id": "fc", "call_id": "call_1", "name": "look",
                "arguments": arguments, "status": status })
    }

    fn completed() -> Value {
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [], "usage": {
            "input_tokens": 90, "input_tokens_details": { "cached_tokens": 64 }, "output_tokens": 8,
            "output_tokens_details": { "reasoning_tokens": 4 }, "total_tokens": 98 } } })
    }

    fn incomplete(reason: &str) -> Value {
        json!({ "type": "response.incomplete", "response": { "status": "incomplete",
                "incomplete_details": { "reason": reason } } })
    }

    #[test]
    fn items_are_kept_as_they_came() {
        let items = [reasoning(Some("e")), call("{\"a\": 1}", "completed")];
        let turn = read(&[done(items[0].clone()), done(items[1].clone()), completed()]).unwrap();
        assert_eq!(turn.stop, Stop::Calls);
        assert_eq!(turn.calls[0].arguments, json!({"a": 1}));
        assert_eq!(turn.carry, Some(json!({ "model": "m", "host": "h", "items": items })));
        let usage = Usage { input: Some(90), cached: Some(64), cache_written: None, output: Some(8) };
        assert_eq!(turn.usage, usage);
    }

    #[test]
    fn reasoning_that_cannot_be_read_again_is_not_carried() {
        for content in [None, Some("")] {
            let turn = read(&[done(reasoning(content)), done(call("{}", "completed")), completed()]).unwrap();
            assert_eq!((turn.carry, turn.calls.len()), (None, 1));
        }
        assert_eq!(read(&[done(reasoning(Some("e"))), completed()]).unwrap().carry, None);
    }

    #[test]
    fn a_call_that_the_limit_cut_off_is_left_out() {
        let cut = [call("{\"a\": 1", "incomplete"), call("{\"a\": 1", "completed"), call("", "completed")];
        for cut in cut {
            let turn = read(&[
                done(reasoning(Some("e"))),
                done(call("{}", "completed")),
                done(cut),
                incomplete("max_output_tokens"),
            ]);
            let turn = turn.unwrap();
            assert_eq!((turn.stop, turn.calls.len()), (Stop::Length, 1));
            assert_eq!(turn.carry.unwrap()["items"].as_array().unwrap().len(), 2);
        }
    }

    #[test]
    fn arguments_that_are_no_object_are_handed_over() {
        let turn = read(&[done(call("{\"a\": 1", "completed")), completed()]).unwrap();
        assert_eq!(turn.calls[0].arguments, json!("{\"a\": 1"));
    }

    #[test]
    fn a_refusal_runs_nothing() {
        let refusal = json!({ "type": "message", "content": [{ "type": "refusal", "refusal": "No." }] });
        let turn = read(&[done(refusal), done(call("{}", "completed")), completed()]).unwrap();
        assert_eq!((turn.stop, turn.calls.len()), (Stop::Refused { why: "No.".to_owned() }, 0));
        let turn = read(&[incomplete("content_filter")]).unwrap();
        assert_eq!(turn.stop, Stop::Refused { why: "content_filter".to_owned() });
    }

    #[test]
    fn words_come_from_the_items_or_else_from_the_deltas() {
        let delta = |text: &str| json!({ "type": "response.output_text.delta", "delta": text });
        let events = [delta("So it"), delta(" is."), completed()];
        assert_eq!(read(&events).unwrap().text, "So it is.");
        let message =
            json!({ "type": "message", "content": [{ "type": "output_text", "text": "So it is." }] });
        assert_eq!(read(&[delta("So it"), done(message), completed()]).unwrap().text, "So it is.");
    }

    #[test]
    fn an_end_is_announced_or_there_is_none() {
        assert_eq!(read(&[done(call("{}", "completed"))]), None);
        let mut reader = Reader::default();
        let nested = json!({ "type": "error", "error": { "code": "server_error" } });
        assert_eq!(reader.feed(&nested, &Silent), Progress::Failed(json!({ "code": "server_error" })));
        let flat = json!({ "type": "error", "code": "rate_limit_exceeded", "message": "m" });
        assert_eq!(reader.feed(&flat, &Silent), Progress::Failed(flat.clone()));
        let failed =
            json!({ "type": "response.failed", "response": { "error": { "code": "server_error" } } });
        assert_eq!(reader.feed(&failed, &Silent), Progress::Failed(json!({ "code": "server_error" })));
        for odd in [json!([1]), json!("x"), json!(null), json!({ "type": 3 })] {
            assert_eq!(reader.feed(&odd, &Silent), Progress::More);
        }
    }
}
