//! A model that tells a story: its turns follow from what its earlier calls brought. It ships: the demonstration runs on it.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use crate::agent::model::{
    Answer, Ask, Brain, Call, Listener, Message, Model, ModelError, ScriptedError, Stop, ToolResult, Usage,
};

/// The turns, of which those are told whose condition holds. The same conversation always leads to the same turn.
///
/// In every text `${label}` stands for the observation that the call of that label brought, and `${label?yes|no}` for one of
/// two texts, in which `@` stands for the observation. A list loses texts that come out empty and objects whose `if` does not
/// hold; an object with `say` becomes that text.
#[derive(Debug, Clone)]
pub struct Told {
    title: String,
    turns: Vec<Turn>,
    places: Regex,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    /// The call that must have brought something before this turn is told.
    #[serde(default, rename = "if")]
    condition: Option<String>,
    #[serde(default)]
    text: String,
    calls: Vec<Called>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    /// By which name later turns speak of it.
    #[serde(default, rename = "as")]
    label: Option<String>,
    tool: String,
    arguments: Value,
}

/// What came of labelled calls: the observation of those that succeeded.
type Brought = BTreeMap<String, String>;

impl Told {
    /// Reads a story, a turn a line.
    ///
    /// # Errors
    /// Says which line is no turn, or speaks of a call that no earlier line makes.
    pub fn parse(title: &str, text: &str) -> Result<Self, ScriptedError> {
        let no_pattern = |error: regex::Error| ScriptedError::Line { line: 0, what: error.to_string() };
        let places = Regex::new(r"\$\{([a-z_]+)(?:\?([^|}]*)\|([^}]*))?\}").map_err(no_pattern)?;
        let mut turns: Vec<Turn> = Vec::new();
        let mut known = BTreeSet::new();
        for (text, line) in text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty()) {
            let wrong = |what: String| ScriptedError::Line { line, what };
            let turn: Turn = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
            let conditions = turn.condition.iter().map(String::as_str);
            let named = places.captures_iter(text).filter_map(|place| Some(place.get(1)?.as_str()));
            if let Some(label) = conditions.chain(named).find(|label| !known.contains(*label)) {
                return Err(wrong(format!("no earlier call is labelled `{label}`")));
            }
            if turn.calls.is_empty() {
                return Err(wrong("a turn has to call something".to_owned()));
            }
            known.extend(turn.calls.iter().filter_map(|call| call.label.clone()));
            turns.push(turn);
        }
        if turns.is_empty() {
            Err(ScriptedError::Empty)
        } else {
            Ok(Self { title: title.to_owned(), turns, places })
        }
    }

    /// Returns the turn that comes next, with its number, and what the calls before it brought.
    fn next(&self, ask: &Ask) -> Option<(&Turn, Brought)> {
        let results = ask.messages.iter().filter_map(|message| match message {
            Message::Results { results } => Some(results),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        let results: BTreeMap<&str, &ToolResult> =
            results.flatten().map(|result| (result.id.as_str(), result)).collect();
        let mut brought = Brought::new();
        let mut number = 0;
        for turn in &self.turns {
            if turn.condition.as_ref().is_some_and(|label| !brought.contains_key(label)) {
                continue;
            }
            if number == ask.turn {
                return Some((turn, brought));
            }
            for (call, at) in turn.calls.iter().zip(1..) {
                let result = results.get(name(number, at).as_str()).copied();
                if let (Some(label), Some(seen)) = (&call.label, result.and_then(observation)) {
                    brought.insert(label.clone(), seen);
                }
            }
            number += 1;
        }
        // Whoever asks again is told the end again, unless the end was refused.
        let refused = ask.messages.iter().rev().find_map(|message| match message {
            Message::Results { results } => Some(results.iter().any(|result| result.is_error)),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        self.turns.last().filter(|_| refused == Some(false)).map(|turn| (turn, brought))
    }

    fn fill(&self, text: &str, brought: &Brought) -> String {
        let place = |place: &Captures<'_>| {
            let part = |at| place.get(at).map_or("", |part: regex::Match<'_>| part.as_str());
            match (brought.get(part(1)), place.get(2)) {
                (Some(seen), None) => seen.clone(),
                (Some(seen), Some(yes)) => yes.as_str().replace('@', seen),
                (None, _) => part(3).to_owned(),
            }
        };
        self.places.replace_all(text, place).into_owned()
    }

    fn filled(&self, value: &Value, brought: &Brought) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text, brought)),
            Value::Array(items) => {
                let held = items.iter().filter(|item| {
                    let label = item.get("if").and_then(Value::as_str);
                    label.is_none_or(|label| brought.contains_key(label))
                });
                let filled = held.map(|item| self.filled(item, brought));
                filled.filter(|item| item.as_str() != Some("")).collect()
            }
            Value::Object(fields) => {
                if let Some(said) = fields.get("say") {
                    return self.filled(said, brought);
                }
                let fields = fields.iter().filter(|(key, _)| *key != "if");
                fields.map(|(key, value)| (key.clone(), self.filled(value, brought))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

/// Returns how a call is named within the conversation.
fn name(turn: u32, call: u32) -> String {
    format!("t{turn}_{call}")
}

/// Returns the observation of a command that succeeded.
fn observation(result: &ToolResult) -> Option<String> {
    let content: Value = serde_json::from_str(&result.content).ok()?;
    let succeeded = !result.is_error && content.get("exit_code").and_then(Value::as_i64) == Some(0);
    content.get("observation").and_then(Value::as_str).filter(|_| succeeded).map(str::to_owned)
}

#[async_trait]
impl Model for Told {
    fn brain(&self) -> Brain {
        Brain { provider: "scripted".to_owned(), model: self.title.clone(), host: None, window: 200_000 }
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let (turn, brought) = self.next(ask).ok_or(ModelError::ScriptOver { turn: ask.turn })?;
        let text = self.fill(&turn.text, &brought);
        listener.text(&text);
        let call = |(called, at): (&Called, u32)| Call {
            id: name(ask.turn, at),
            tool: called.tool.clone(),
            arguments: self.filled(&called.arguments, &brought),
        };
        Ok(Answer {
            brain: self.brain(),
            text,
            stop: Stop::Calls,
            calls: turn.calls.iter().zip(1..).map(call).collect(),
            carry: None,
            usage: Usage::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::model::Silent;
    use serde_json::json;

    const STORY: &str = r#"{"text":"look","calls":[{"as":"wire","tool":"run","arguments":{}}]}
{"if":"wire","text":"seen in ${wire}","calls":[{"tool":"run","arguments":{}}]}

{"text":"${wire?the wire says it (@)|nobody looked}","calls":[{"tool":"end","arguments":{"n":1,"list":["${wire?@|}",{"if":"wire","x":"${wire}"},{"if":"wire","say":"and ${wire}"},"always"]}}]}"#;

    fn asked(turn: u32, results: &[(&str, Value)]) -> Ask {
        let result = |(id, content): &(&str, Value)| ToolResult {
            id: (*id).to_owned(),
            tool: "run".to_owned(),
            content: content.to_string(),
            is_error: content.get("exit_code").is_none(),
        };
        let messages = vec![Message::Results { results: results.iter().map(result).collect() }];
        Ask { turn, system: String::new(), tools: Vec::new(), messages, max_output_tokens: 1, fruitless: 0 }
    }

    async fn told(turn: u32, results: &[(&str, Value)]) -> Result<Answer, ModelError> {
        Told::parse("a story", STORY).unwrap().answer(&asked(turn, results), &Silent).await
    }

    #[tokio::test]
    async fn what_a_call_brought_leads_to_another_turn() {
        let seen = [("t0_1", json!({"exit_code": 0, "observation": "o3"}))];
        assert_eq!(told(0, &[]).await.unwrap().text, "look");
        assert_eq!(told(1, &seen).await.unwrap().text, "seen in o3");
        let end = told(2, &seen).await.unwrap();
        assert_eq!(end.text, "the wire says it (o3)");
        assert_eq!(end.calls[0].arguments, json!({"n": 1, "list": ["o3", {"x": "o3"}, "and o3", "always"]}));
    }

    #[tokio::test]
    async fn what_was_denied_or_failed_is_not_spoken_of() {
        for refused in [json!({"status": "denied"}), json!({"exit_code": 127, "observation": "o3"})] {
            let end = told(1, &[("t0_1", refused)]).await.unwrap();
            assert_eq!(end.text, "nobody looked");
            assert_eq!(end.calls[0].arguments, json!({"n": 1, "list": ["always"]}));
        }
    }

    #[tokio::test]
    async fn whoever_asks_again_is_told_the_end_again_unless_it_was_refused() {
        assert_eq!(told(7, &[("t1_1", json!({"exit_code": 0}))]).await.unwrap().text, "nobody looked");
        assert_eq!(told(7, &[("t1_1", json!({}))]).await, Err(ModelError::ScriptOver { turn: 7 }));
    }

    #[test]
    fn a_story_that_speaks_of_what_it_never_did_is_refused() {
        let wrong = |text: &str| Told::parse("", text).unwrap_err().to_string();
        assert!(
            wrong("{\"text\":\"${wire}\",\"calls\":[{\"tool\":\"a\",\"arguments\":{}}]}").contains("`wire`")
        );
        assert!(wrong("{\"if\":\"x\",\"calls\":[{\"tool\":\"a\",\"arguments\":{}}]}").contains("`x`"));
        assert!(wrong("{\"calls\":[]}").contains("call something"));
        assert_eq!(Told::parse("", " \n").unwrap_err(), ScriptedError::Empty);
    }
}
