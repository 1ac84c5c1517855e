//! The dialog that shows a command to its end.

use serde_json::Value;

use crate::bot::show::Meta;
use crate::bot::show::amount::count;
use crate::bot::show::block::{Line, pre, rich, say, small};
use crate::bot::show::modal::form::modal;
use crate::bot::show::text::{chunks, spelled};

/// How much one block shows.
const CHUNK_LEN: usize = 2_900;

/// How many blocks there are at most; a view holds 100.
const MAX_CHUNKS: usize = 90;

/// How many bytes of JSON these may be; a view holds 250,000.
const MAX_JSON_BYTES: usize = 200_000;

/// Returns the dialog with the whole command and the whole reasoning; where not even a dialog holds it, it says how much is
/// missing.
#[must_use]
pub fn whole_modal(command: &str, reasoning: &str) -> Value {
    let mut budget = Budget { chunks: MAX_CHUNKS, bytes: MAX_JSON_BYTES };
    let mut blocks = vec![small(&count(command.chars().count(), "character"))];
    blocks.extend(budget.fill(command));
    if !reasoning.trim().is_empty() {
        blocks.push(say(Line::new().bold("Why")));
        blocks.extend(budget.fill(reasoning));
    }
    modal("whole", "Whole command", None, &Meta::default(), blocks)
}

struct Budget {
    chunks: usize,
    bytes: usize,
}

impl Budget {
    fn fill(&mut self, text: &str) -> Vec<Value> {
        let text = spelled(text);
        let mut blocks = Vec::new();
        let mut shown = 0;
        for chunk in chunks(&text, CHUNK_LEN) {
            let block = rich(vec![pre(chunk)]);
            let bytes = block.to_string().len();
            if self.chunks == 0 || self.bytes < bytes {
                let left = text.get(shown..).map_or(0, |left| left.chars().count());
                let more =
                    format!("continues: {}; the file in the thread holds all", count(left, "more character"));
                blocks.push(say(Line::new().bold(&more)));
                break;
            }
            (self.chunks, self.bytes) = (self.chunks - 1, self.bytes - bytes);
            shown += chunk.len();
            blocks.push(block);
        }
        blocks
    }
}
