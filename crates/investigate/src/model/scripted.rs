//! A model that reads its turns from a list. It ships: a demonstration and the tests run the real path with it.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use crate::model::{Answer, Ask, Call, Investigator, Listener, Model, ModelError, Stop, Usage};

/// Limits the length of a script.
const MAX_TURNS: usize = 10_000;

/// The turns, one after the other. Which one comes next follows from the ledger, so that a resumed session goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Scripted {
    turns: Vec<Turn>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<Called>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    tool: String,
    #[serde(default)]
    arguments: Value,
}

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptedError {
    /// A line is no turn.
    #[error("line {line} is no turn: {what}")]
    Line {
        /// Which, from 1.
        line: usize,
        what: String,
    },
    /// There are too many.
    #[error("the script has more than {MAX_TURNS} turns")]
    TooLong,
    /// There is none.
    #[error("the script has no turn")]
    Empty,
}

impl Scripted {
    /// Reads a script: a turn a line, `{"text": …, "calls": [{"tool": …, "arguments": {…}}]}`. Empty lines say nothing.
    ///
    /// # Errors
    /// Says which line is no turn.
    pub fn parse(text: &str) -> Result<Self, ScriptedError> {
        let mut turns = Vec::new();
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let turn = serde_json::from_str(line)
                .map_err(|error| ScriptedError::Line { line: number, what: error.to_string() })?;
            turns.push(turn);
        }
        match turns.len() {
            0 => Err(ScriptedError::Empty),
            length if length > MAX_TURNS => Err(ScriptedError::TooLong),
            _ => Ok(Self { turns }),
        }
    }
}

#[async_trait]
impl Model for Scripted {
    fn investigator(&self) -> Investigator {
        Investigator { provider: "scripted".to_owned(), model: String::new(), host: None, window: 200_000 }
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let at = usize::try_from(ask.turn).unwrap_or(usize::MAX);
        let turn = self.turns.get(at).ok_or(ModelError::ScriptOver { turn: ask.turn })?;
        listener.text(&turn.text);
        let call = |(called, number): (&Called, u32)| Call {
            id: format!("t{}_{number}", ask.turn),
            tool: called.tool.clone(),
            arguments: called.arguments.clone(),
        };
        let calls: Vec<Call> = turn.calls.iter().zip(1..).map(call).collect();
        Ok(Answer {
            investigator: self.investigator(),
            text: turn.text.clone(),
            stop: if calls.is_empty() { Stop::End } else { Stop::Calls },
            calls,
            carry: None,
            usage: Usage::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Silent;

    fn ask(turn: u32) -> Ask {
        Ask {
            turn,
            system: String::new(),
            tools: Vec::new(),
            messages: Vec::new(),
            max_output_tokens: 1,
            fruitless: 0,
            shortened: 0,
        }
    }

    #[tokio::test]
    async fn the_ledger_says_which_turn_comes_next() {
        let script = "{\"text\":\"a\"}\n\n{\"calls\":[{\"tool\":\"x\",\"arguments\":{\"y\":1}}]}\n";
        let script = Scripted::parse(script).unwrap();
        assert_eq!(script.answer(&ask(0), &Silent).await.unwrap().text, "a");
        let second = script.answer(&ask(1), &Silent).await.unwrap();
        assert_eq!((second.calls.len(), second.stop), (1, Stop::Calls));
        assert_eq!(script.answer(&ask(2), &Silent).await, Err(ModelError::ScriptOver { turn: 2 }));
    }

    #[test]
    fn a_line_that_is_no_turn_is_named() {
        let wrong = Scripted::parse("{}\n{\"txt\":\"a\"}").unwrap_err();
        assert!(matches!(wrong, ScriptedError::Line { line: 2, .. }), "{wrong}");
        assert_eq!(Scripted::parse("\n \n"), Err(ScriptedError::Empty));
    }
}
