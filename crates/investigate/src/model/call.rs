//! What the readers of answers share: how calls are named, and what their arguments are.

use serde_json::{Map, Value, json};

use crate::model::{Answer, Ask, Call, Carry, Investigator, Message, Stop, Usage};

/// A call as a provider wrote it: not yet named for the conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Draft {
    /// The provider's name for it, if it gave one.
    pub(super) id: Option<String>,
    pub(super) tool: String,
    /// An object, or the text that was none.
    pub(super) arguments: Value,
}

/// A turn as a provider wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    pub(super) text: String,
    /// Its calls, in order.
    pub(super) calls: Vec<Draft>,
    /// What the provider wants to see again.
    pub(super) carry: Option<Value>,
    pub(super) usage: Usage,
    pub(super) stop: Stop,
}

impl Turn {
    /// Names the calls, says who answered, and keeps secrets out of the provider's words about the turn.
    pub(super) fn answer(
        self,
        ask: &Ask,
        investigator: Investigator,
        clean: impl Fn(&str) -> String,
    ) -> Answer {
        let ids = ids(ask, &self.calls);
        let calls = self.calls.into_iter().zip(ids);
        Answer {
            text: self.text,
            calls: calls.map(|(call, id)| Call { id, tool: call.tool, arguments: call.arguments }).collect(),
            carry: self.carry.map(|value| Carry { provider: investigator.provider.clone(), value }),
            usage: self.usage,
            stop: match self.stop {
                Stop::Refused { why } => Stop::Refused { why: clean(&why) },
                Stop::Malformed { why } => Stop::Malformed { why: clean(&why) },
                stop @ (Stop::End | Stop::Calls | Stop::Length) => stop,
            },
            investigator,
        }
    }
}

/// Names the calls of a turn: as the provider did, where that name is there and not taken in this conversation.
///
/// Some servers give no names, others the same ones in each turn.
fn ids(ask: &Ask, calls: &[Draft]) -> Vec<String> {
    let mut taken: Vec<String> = ask.messages.iter().flat_map(called).map(|call| call.id.clone()).collect();
    let mut named = Vec::new();
    for (n, call) in calls.iter().enumerate() {
        let mut id = call.id.clone().unwrap_or_default();
        let mut tries = 0_usize;
        while id.is_empty() || taken.contains(&id) {
            id = match tries {
                0 => format!("c{}_{n}", ask.turn),
                more => format!("c{}_{n}_{more}", ask.turn),
            };
            tries += 1;
        }
        taken.push(id.clone());
        named.push(id);
    }
    named
}

fn called(message: &Message) -> &[Call] {
    match message {
        Message::Assistant { calls, .. } => calls,
        Message::User { .. } | Message::Results { .. } => &[],
    }
}

/// Reads arguments that came as text: an object, or the text itself. Nothing at all is an empty object.
pub(super) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(object @ Value::Object(_)) => object,
        Ok(_) | Err(_) => Value::String(text.to_owned()),
    }
}

/// Returns arguments as the object that providers insist on when they read a call again.
pub(super) fn object(arguments: &Value) -> Value {
    if arguments.is_object() { arguments.clone() } else { json!({ "not_an_object": arguments }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(ids: &[&str]) -> Ask {
        let call = |id: &&str| Call { id: (*id).to_owned(), tool: "t".to_owned(), arguments: json!({}) };
        let calls = ids.iter().map(call).collect();
        let messages = vec![Message::Assistant { text: String::new(), calls, carry: None }];
        Ask {
            turn: 4,
            system: String::new(),
            tools: Vec::new(),
            messages,
            max_output_tokens: 1,
            fruitless: 0,
            shortened: 0,
        }
    }

    fn draft(id: Option<&str>) -> Draft {
        Draft { id: id.map(str::to_owned), ..Draft::default() }
    }

    #[test]
    fn a_call_without_a_name_gets_one_that_stays() {
        let calls = [draft(None), draft(Some("")), draft(Some("x"))];
        assert_eq!(ids(&ask(&[]), &calls), ["c4_0", "c4_1", "x"]);
    }

    #[test]
    fn a_name_that_is_taken_is_not_used_again() {
        let calls = [draft(Some("call_0")), draft(Some("a")), draft(Some("a")), draft(None)];
        assert_eq!(ids(&ask(&["call_0", "c4_3"]), &calls), ["c4_0", "a", "c4_2", "c4_3_1"]);
    }

    #[test]
    fn arguments_that_are_no_object_stay_as_text() {
        assert_eq!(arguments(" "), json!({}));
        assert_eq!(arguments(r#"{"a":1}"#), json!({"a": 1}));
        assert_eq!(arguments("[1]"), json!("[1]"));
        assert_eq!(arguments(r#"{"a":"#), json!(r#"{"a":"#));
        assert_eq!(object(&json!("[1]")), json!({"not_an_object": "[1]"}));
    }
}
