//! The text a model may read, and the one function that makes it.

use serde::Serialize;

use crate::Redacted;
use crate::clip::kind::{Kind, kind};
use crate::clip::{document, lines};

/// How much a model may read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most lines; a line break at the very end begins no line.
    pub lines: usize,
    /// The most tokens, each counted as four bytes.
    pub tokens: usize,
}

impl Limits {
    /// What a model gets from one command.
    pub const MODEL: Self = Self { lines: 200, tokens: 4_000 };

    /// Returns the most bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.tokens.saturating_mul(4)
    }

    /// Tells whether a text needs no cut.
    pub(super) fn hold(self, text: &str) -> bool {
        text.len() <= self.bytes() && text.lines().count() <= self.lines
    }
}

/// Text that was redacted and then cut; nothing else can make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelText {
    text: String,
    clipping: Clipping,
}

impl ModelText {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text and drops the rest.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }

    /// Returns what was left out.
    #[must_use]
    pub fn clipping(&self) -> &Clipping {
        &self.clipping
    }
}

/// What was shown of a text, in true numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clipping {
    /// Whether anything was left out.
    pub applied: bool,
    /// What the text was taken for.
    pub kind: Kind,
    /// The lines of the whole text.
    pub total_lines: usize,
    /// Of these, the lines shown whole or in part. In a document, the lines of what is shown, at most all.
    pub shown_lines: usize,
    /// The bytes of the whole text.
    pub total_bytes: usize,
    /// The items of a JSON array.
    pub items_total: Option<usize>,
    /// Of these, the items shown whole or in part.
    pub items_shown: Option<usize>,
}

/// A text after a cut, before it has a type of its own.
pub(super) struct Cut {
    /// What is left, markers included.
    pub(super) text: String,
    /// How many lines of the original it shows.
    pub(super) lines: usize,
    /// How many items of the original it shows.
    pub(super) items: Option<usize>,
}

/// Cuts a text so that it fits into the limits.
///
/// JSON is cut as JSON, a table keeps its head, a log its first and its last lines. A text that fits comes back as it
/// is, whatever it is, except that binary data is only named.
#[must_use]
pub fn clip(text: &Redacted, limits: Limits) -> ModelText {
    let whole = text.as_str();
    let (kind, value) = kind(whole);
    let total_lines = whole.lines().count();
    let items_total = value.as_ref().and_then(|value| value.as_array()).map(Vec::len);
    let cut = if kind == Kind::Binary {
        Some(binary(whole, limits))
    } else if limits.hold(whole) {
        None
    } else {
        let cut = value.as_ref().and_then(|value| document::cut(whole, value, limits));
        Some(cut.unwrap_or_else(|| lines::cut(whole, kind == Kind::Tabular, limits)))
    };
    let cut = cut.unwrap_or_else(|| Cut { text: whole.to_owned(), lines: total_lines, items: items_total });
    let clipping = Clipping {
        applied: cut.text != whole,
        kind,
        total_lines,
        shown_lines: cut.lines.min(total_lines),
        total_bytes: whole.len(),
        items_total,
        items_shown: items_total.map(|total| cut.items.unwrap_or(0).min(total)),
    };
    ModelText { text: cut.text, clipping }
}

/// Names binary data instead of showing it; a text shorter than its name is left out without one.
fn binary(whole: &str, limits: Limits) -> Cut {
    let text = format!("[binary data, {} bytes]", whole.len());
    let fits = text.len() <= whole.len() && limits.hold(&text);
    Cut { text: if fits { text } else { String::new() }, lines: 0, items: None }
}
