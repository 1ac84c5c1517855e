//! What apps received and what they called, for tests of an app.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::deliver::AppAnswer;
use crate::state::{Args, Interaction, Post};

/// How many entries are kept; older ones are counted.
const MAX_ENTRIES: usize = 4096;

/// The entries, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    entries: VecDeque<Value>,
    lost: u64,
    /// How many events are not acknowledged yet.
    open: u64,
}

impl Journal {
    fn add(&mut self, entry: Value) {
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.pop_front();
            self.lost += 1;
        }
        self.entries.push_back(entry);
    }

    /// Notes that an event sets out.
    pub(crate) fn sent(&mut self) {
        self.open += 1;
    }

    /// Notes what became of an event.
    pub(crate) fn arrived(&mut self, app: &str, payload: &Value, acknowledged: bool) {
        self.open = self.open.saturating_sub(1);
        let event = payload.get("event").unwrap_or(&Value::Null);
        self.add(json!({
            "what": "event", "app": app, "kind": event.get("type"), "subtype": event.get("subtype"),
            "id": payload.get("event_id"), "acknowledged": acknowledged,
        }));
    }

    /// Notes what became of an interaction or a command.
    pub(crate) fn asked(&mut self, interaction: &Interaction, answered: &AppAnswer) {
        let kind = match interaction.post {
            Post::Interactive => interaction.payload.get("type").cloned().unwrap_or(Value::Null),
            Post::Command => json!("command"),
        };
        let acknowledged = matches!(answered, AppAnswer::Yes(_));
        self.add(json!({
            "what": "interaction", "app": interaction.app, "kind": kind, "acknowledged": acknowledged,
        }));
    }

    /// Notes a call that the workspace itself answered; trouble on demand is none.
    pub(crate) fn called(&mut self, app: &str, method: &str, args: &Args, body: &Value) {
        let view = body.get("view").and_then(|view| view.get("id"));
        self.add(json!({
            "what": "call", "app": app, "method": method, "channel": args.text("channel"),
            "user": args.text("user").or_else(|| args.text("user_id")), "view": view,
            "error": body.get("error"), "messages": body.pointer("/response_metadata/messages"),
        }));
    }

    /// All of it, as a document.
    pub(crate) fn form(&self) -> Value {
        json!({"ok": true, "open": self.open, "lost": self.lost, "entries": self.entries})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_old_is_counted() {
        let mut journal = Journal::default();
        for number in 0..MAX_ENTRIES + 3 {
            journal.called("A", &number.to_string(), &Args::default(), &json!({"ok": true}));
        }
        let form = journal.form();
        assert_eq!((form["lost"].as_u64(), form["entries"][0]["method"].as_str()), (Some(3), Some("3")));
    }

    #[test]
    fn an_event_is_open_until_its_outcome_is_known() {
        let mut journal = Journal::default();
        journal.sent();
        assert_eq!(journal.form()["open"], 1);
        journal.arrived("A", &json!({"event_id": "E", "event": {"type": "message"}}), false);
        let form = journal.form();
        assert_eq!((&form["open"], &form["entries"][0]["acknowledged"]), (&json!(0), &json!(false)));
    }
}
