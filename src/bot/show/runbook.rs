//! What a site has written about what was found: shown as a text of others, below the report.

use crate::bot::show::Message;
use crate::bot::show::block::{Line, pre, rich, say};
use crate::bot::show::text::{escape, prose};
use ghost_investigate::runbook::Note;
use serde_json::Value;

/// Draws the sections that name what was found.
#[must_use]
pub fn runbooks(notes: &[&Note]) -> Message {
    let blocks = notes.iter().flat_map(|note| {
        let line = Line::new().text("From your runbooks, ").bold(&place(note)).text(":");
        [say(line), rich(vec![pre(&note.shown())])]
    });
    let places: Vec<String> = notes.iter().map(|note| place(note)).collect();
    Message {
        blocks: blocks.collect::<Vec<Value>>(),
        text: escape(&format!("From your runbooks: {}", places.join("; "))),
    }
}

fn place(note: &Note) -> String {
    let file = prose(&note.file, 80);
    if note.heading == note.file { file } else { format!("{file}, {}", prose(&note.heading, 120)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_shown_as_it_is_and_calls_nobody() {
        let note = Note {
            file: "hosts.md".to_owned(),
            heading: "Databases <!here>".to_owned(),
            text: "Ask <@U1> *first*\n".to_owned(),
        };
        let drawn = runbooks(&[&note]);
        assert_eq!(drawn.text, "From your runbooks: hosts.md, Databases &lt;!here&gt;");
        assert!(drawn.blocks.iter().all(|block| block["type"] == "rich_text"), "{:#?}", drawn.blocks);
        assert!(Value::from(drawn.blocks).to_string().contains("Ask <@U1> *first*"));
    }
}
