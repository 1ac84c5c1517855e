//! A conversation as steps, each call beside its result, the way every provider insists on.

use crate::model::{Call, Carry, Message, ToolResult};
use ghost_base::Digest;

/// The longest name that each provider takes, of a tool.
const LONGEST_NAME: usize = 64;

/// The longest name that each provider takes, of a call.
const LONGEST_ID: usize = 40;

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step<'a> {
    /// From the outside.
    User(&'a str),
    /// What the model said, and what came of it.
    Turn(Turn<'a>),
}

/// What a model said, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn<'a> {
    /// Its words.
    pub(super) text: &'a str,
    /// What it called.
    pub(super) calls: &'a [Call],
    /// What its provider wants to see again.
    pub(super) carry: Option<&'a Carry>,
    /// One for each call, in the same order.
    pub(super) outcomes: Vec<Outcome<'a>>,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Outcome<'a> {
    /// The call.
    pub(super) call: &'a Call,
    /// What the model reads.
    pub(super) content: &'a str,
    /// Whether it was refused or failed.
    pub(super) is_error: bool,
}

/// Takes a conversation apart. A call without a result would make every later request fail, so it gets one; a result
/// without a call would too, and says nothing.
pub(super) fn steps(messages: &[Message]) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        match message {
            Message::User { text } => steps.push(Step::User(text)),
            Message::Results { .. } => {}
            Message::Assistant { text, calls, carry } => {
                let results = match messages.get(n + 1) {
                    Some(Message::Results { results }) => results.as_slice(),
                    Some(Message::User { .. } | Message::Assistant { .. }) | None => &[],
                };
                let outcomes = calls.iter().map(|call| outcome(call, results)).collect();
                steps.push(Step::Turn(Turn { text, calls, carry: carry.as_ref(), outcomes }));
            }
        }
    }
    steps
}

fn outcome<'a>(call: &'a Call, results: &'a [ToolResult]) -> Outcome<'a> {
    match results.iter().find(|result| result.id == call.id) {
        Some(result) => Outcome { call, content: &result.content, is_error: result.is_error },
        None => Outcome { call, content: r#""no result was recorded""#, is_error: true },
    }
}

/// Makes a name of a tool that each provider takes. A model may have made up any.
pub(super) fn name(tool: &str) -> String {
    let plain = |char: char| if is_plain(char) { char } else { '_' };
    let name: String = tool.chars().take(LONGEST_NAME).map(plain).collect();
    if name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_') {
        return name;
    }
    format!("_{name}").chars().take(LONGEST_NAME).collect()
}

/// Makes a name of a call that each provider takes. Some allow themselves more.
pub(super) fn id(id: &str) -> String {
    if !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(is_plain) {
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
            Outcome { call: &calls[0], content: r#""no result was recorded""#, is_error: true },
            Outcome { call: &calls[1], content: "{}", is_error: false },
        ];
        let turn = Turn { text: "", calls: &calls, carry: None, outcomes };
        assert_eq!(steps(&messages), [Step::Turn(turn), Step::User("x")]);
    }

    #[test]
    fn names_are_made_so_that_each_provider_takes_them() {
        assert_eq!(name("run_shell_cmd"), "run_shell_cmd");
        assert_eq!(
            (name("run shell!").as_str(), name("").as_str(), name("1a").as_str()),
            ("run_shell_", "_", "_1a")
        );
        assert_eq!(name(&"ä".repeat(99)).len(), LONGEST_NAME);
        assert_eq!(id("call_1-a"), "call_1-a");
        for odd in ["", "functions.look:0", &"a".repeat(41)] {
            let made = id(odd);
            assert!(made.len() == 37 && made.chars().all(is_plain), "{made}");
            assert_eq!(made, id(odd));
        }
        assert_ne!(id("functions.look:0"), id("functions.look:1"));
    }
}
