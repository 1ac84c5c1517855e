//! What the end of a session leaves in its thread, looked at as a whole.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use serde_json::Value;

use super::stage::{World, has_button, text};
use crate::lab::stage::NETWORK;

/// What a session that is over left.
pub(super) struct Closing {
    /// The messages of the report, in order.
    pub(super) parts: Vec<Value>,
    /// The file `rca.md`.
    pub(super) rca: String,
    /// The files' names.
    pub(super) files: Vec<String>,
    /// The board, which asks for nothing any more.
    pub(super) board: Value,
}

impl Closing {
    /// Returns the Markdown of the report as the thread shows it.
    pub(super) fn markdown(&self) -> Vec<&str> {
        let blocks = self.parts.iter().flat_map(|part| part["blocks"].as_array().into_iter().flatten());
        blocks
            .filter(|block| block["type"] == "markdown")
            .filter_map(|block| block["text"].as_str())
            .collect()
    }
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
        let (board, parts, shared) = found;
        for message in [&board, &shared].into_iter().chain(&parts) {
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
        let closing = Closing { parts, rca, files, board };
        closing.agrees();
        // Whoever stops a bot now cuts nothing off.
        self.until("everything is acknowledged", async || {
            Some(self.look("journal", &[]).await).filter(|journal| journal["open"] == 0)
        })
        .await;
        closing
    }

    /// Finds what nobody looked at yet.
    fn closing(&self, channel: &str, thread: Vec<Value>) -> Option<(Value, Vec<Value>, Value)> {
        let ours = |message: &&Value| message["user"] == "U0LABGHOST" && !self.knows(channel, message);
        let new: Vec<&Value> = thread.iter().filter(ours).collect();
        let begins = |word: &str, message: &&&Value| text(message).starts_with(word);
        let board = thread.iter().find(|message| text(message).starts_with("Session ghost-"))?;
        if has_button(board, "stop") {
            return None;
        }
        let first = new.iter().find(|message| text(message).contains(" · session ghost-"))?;
        let later = new.iter().filter(|message| begins("Report of session", message));
        let parts: Vec<Value> = std::iter::once(first).chain(later).map(|part| (**part).clone()).collect();
        let total = parts.last().map(text).unwrap_or_default();
        let whole = total.rsplit_once(" of ").is_none_or(|(before, many)| {
            before.rsplit_once("part ").is_none_or(|(_, number)| number == many)
        });
        let last = parts.last().is_some_and(|part| has_button(part, "feedback"));
        let shared = new.iter().find(|message| message["files"].to_string().contains("rca.md"))?;
        (whole && last).then(|| (board.clone(), parts, (**shared).clone()))
    }
}

impl Closing {
    /// The thread shows what the file says: every line of it, in order.
    fn agrees(&self) {
        let shown = self.markdown().join("\n");
        let mut lines = shown.lines().map(str::trim_end);
        for line in self.rca.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            // What no message holds is cut, and says where it goes on.
            let cut = |shown: &str| line.len() > 2_500 && shown.contains("continues in rca.md");
            assert!(
                lines.any(|shown| shown == line || cut(shown)),
                "{line:?} stands in rca.md and not in its place in the thread"
            );
        }
    }
}
