//! What the end of a session leaves in its thread, looked at as a whole.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use serde_json::Value;

use super::stage::{World, has_button, text};
use crate::lab::stage::NETWORK;

/// What a session that is over left.
pub(super) struct Closing {
    /// The message with the answer.
    pub(super) answer: Value,
    /// The file `rca.md`.
    pub(super) rca: String,
    /// The files' names.
    pub(super) files: Vec<String>,
    /// The board, which asks for nothing any more.
    pub(super) board: Value,
}

impl World {
    /// Waits for the end of a session, and checks all that it left.
    pub(super) async fn concluded(&self, user: &str, root: &str) -> Closing {
        self.concluded_in(user, NETWORK, root).await
    }

    pub(super) async fn concluded_in(&self, user: &str, channel: &str, root: &str) -> Closing {
        let found = self
            .until("a board that is over, a report and its files", async || {
                let thread = self.thread_in(user, channel, root).await;
                self.closing(channel, thread)
            })
            .await;
        let (board, answer, shared) = found;
        for message in [&board, &shared, &answer] {
            self.note(channel, message);
        }
        let (mut files, mut rca) = (Vec::new(), String::new());
        for file in shared["files"].as_array().unwrap() {
            let name = file["name"].as_str().unwrap();
            // Pictures are no text.
            if name.ends_with(".png") {
                files.push(name.to_owned());
                continue;
            }
            let content = self.file(user, file).await;
            match name {
                "rca.md" => rca = content,
                "audit.jsonl" => {
                    assert!(!content.is_empty());
                    for line in content.lines() {
                        assert!(serde_json::from_str::<Value>(line).unwrap().is_object(), "{line}");
                    }
                }
                other => panic!("what is {other}?"),
            }
            files.push(name.to_owned());
        }
        let closing = Closing { answer, rca, files, board };
        closing.agrees();
        // Whoever stops a bot now cuts nothing off.
        self.until("everything is acknowledged", async || {
            Some(self.look("journal", &[]).await).filter(|journal| journal["open"] == 0)
        })
        .await;
        closing
    }

    /// Finds what nobody looked at yet.
    fn closing(&self, channel: &str, thread: Vec<Value>) -> Option<(Value, Value, Value)> {
        let ours = |message: &&Value| message["user"] == "U0LABGHOST" && !self.knows(channel, message);
        let new: Vec<&Value> = thread.iter().filter(ours).collect();
        let board = thread.iter().find(|message| text(message).starts_with("Session ghost-"))?;
        if has_button(board, "stop") {
            return None;
        }
        let answer = new.iter().find(|message| has_button(message, "feedback"))?;
        let shared = new.iter().find(|message| message["files"].to_string().contains("rca.md"))?;
        Some((board.clone(), (**answer).clone(), (**shared).clone()))
    }
}

impl Closing {
    /// The answer is short, and the file begins with it.
    fn agrees(&self) {
        let said = text(&self.answer);
        let title = self.rca.lines().next().unwrap_or_default().trim_start_matches("# ");
        let verdict = title.split(':').next().unwrap_or_default();
        assert!(said.starts_with(verdict), "{said:?} and {title:?}");
        let lines = self.answer["blocks"].to_string().matches("\\n").count();
        assert!(lines <= 8, "the answer has {lines} lines more than its sentence: {}", self.answer);
    }
}
