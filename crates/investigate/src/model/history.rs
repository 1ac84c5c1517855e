//! A conversation as entries, each call beside its result, as every provider requires.

use crate::model::{Call, Carry, Message, ToolResult};
use ghost_base::Digest;

/// The longest name that each provider takes, of a tool.
const MAX_TOOL_NAME_CHARS: usize = 64;

/// The longest name that each provider takes, of a call.
const MAX_CALL_ID_CHARS: usize = 40;

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HistoryEntry<'a> {
    /// From the outside.
    User(&'a str),
    /// What the model said, and the results of its calls.
    Turn(PastTurn<'a>),
}

/// What a model said, and the results of its calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PastTurn<'a> {
    pub(super) text: &'a str,
    pub(super) calls: &'a [Call],
    /// What its provider wants to see again.
    pub(super) carry: Option<&'a Carry>,
    /// One for each call, in the same order.
    pub(super) outcomes: Vec<CallOutcome<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CallOutcome<'a> {
    pub(super) call: &'a Call,
    /// What the model reads.
    pub(super) content: &'a str,
    /// Whether it was refused or failed.
    pub(super) is_error: bool,
}

/// Splits a conversation. A call without a result would make every later request fail, so it gets one; a result
/// without a call would too, and says nothing.
pub(super) fn entries(messages: &[Message]) -> Vec<HistoryEntry<'_>> {
    let mut entries = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        match message {
            Message::User { text } => entries.push(HistoryEntry::User(text)),
            Message::Results { .. } => {}
            Message::Assistant { text, calls, carry } => {
                let results = match messages.get(n + 1) {
                    Some(Message::Results { results }) => results.as_slice(),
                    Some(Message::User { .. } | Message::Assistant { .. }) | None => &[],
                };
                let outcomes = calls.iter().map(|call| outcome(call, results)).collect();
                entries.push(HistoryEntry::Turn(PastTurn { text, calls, carry: carry.as_ref(), outcomes }));
            }
        }
    }
    entries
}

fn outcome<'a>(call: &'a Call, results: &'a [ToolResult]) -> CallOutcome<'a> {
    match results.iter().find(|result| result.id == call.id) {
        Some(result) => CallOutcome { call, content: &result.content, is_error: result.is_error },
        None => CallOutcome { call, content: r#""no result was recorded""#, is_error: true },
    }
}

/// Makes a name of a tool that each provider takes. A model may have made up any.
pub(super) fn name(tool: &str) -> String {
    let plain = |char: char| if is_plain(char) { char } else { '_' };
    let name: String = tool.chars().take(MAX_TOOL_NAME_CHARS).map(plain).collect();
    if name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_') {
        return name;
    }
    format!("_{name}").chars().take(MAX_TOOL_NAME_CHARS).collect()
}

/// Makes a name of a call that each provider takes. Some allow themselves more.
pub(super) fn id(id: &str) -> String {
    if !id.is_empty() && id.len() <= MAX_CALL_ID_CHARS && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let digest: String = Digest::of(id).to_string().chars().take(32).collect();
    format!("call_{digest}")
}

fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_call_has_a_result_and_each_result_a_call() {
        let call = |id: &str| Call { id: id.to_owned(), tool: "look".to_owned(), arguments: json!({}) };
        let result = |id: &str| ToolResult {
            id: id.to_owned(),
            tool: "look".to_owned(),
            content: "{}".to_owned(),
            is_error: false,
        };
        let calls = vec![call("a"), call("b")];
        let messages = [
            Message::Results { results: vec![result("z")] },
            Message::Assistant { text: String::new(), calls: calls.clone(), carry: None },
            Message::Results { results: vec![result("c"), result("b")] },
            Message::User { text: "x".to_owned() },
        ];
        let outcomes = vec![
            CallOutcome { call: &calls[0], content: r#""no result was recorded""#, is_error: true },
            CallOutcome { call: &calls[1], content: "{}", is_error: false },
        ];
        let turn = PastTurn { text: "", calls: &calls, carry: None, outcomes };
        assert_eq!(entries(&messages), [HistoryEntry::Turn(turn), HistoryEntry::User("x")]);
    }

    #[test]
    fn names_are_made_so_that_each_provider_takes_them() {
        assert_eq!(name("run_shell_cmd"), "run_shell_cmd");
        assert_eq!(
            (name("run shell!").as_str(), name("").as_str(), name("1a").as_str()),
            ("run_shell_", "_", "_1a")
        );
        assert_eq!(name(&"ä".repeat(99)).len(), MAX_TOOL_NAME_CHARS);
        assert_eq!(id("call_1-a"), "call_1-a");
        for odd in ["", "functions.look:0", &"a".repeat(41)] {
            let made = id(odd);
            assert!(made.len() == 37 && made.chars().all(is_plain), "{made}");
            assert_eq!(made, id(odd));
        }
        assert_ne!(id("functions.look:0"), id("functions.look:1"));
    }
}
