//! The text without its secrets, and the one function that makes it.

use std::collections::BTreeSet;

use crate::redact::scan;
use crate::redact::span::{merge, replace};

/// How often the rules look at their own result before the text is withheld whole.
const MAX_PASSES: usize = 6;

/// Text that went through [`redact`]; nothing else can make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    text: String,
    count: usize,
    categories: BTreeSet<&'static str>,
}

impl Redacted {
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

    /// Returns how many stretches were hidden.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns what was hidden: sorted, each name once, in names that stay.
    #[must_use]
    pub fn categories(&self) -> Vec<&'static str> {
        self.categories.iter().copied().collect()
    }
}

/// Hides every secret of a text and leaves the rest byte for byte.
///
/// JSON is read by structure, also inside log lines, inside its own strings and where its tail was cut off; the
/// rest by names, by places (headers, URLs, key files, tables) and by shape; all of it also below colors, percent codes,
/// base64, UTF-16 and line breaks. The ids of subscriptions and tenants stay: they open nothing, and without them
/// nobody can tell two resources apart or name one to `--ids`.
#[must_use]
pub fn redact(text: &str) -> Redacted {
    settle(text, false)
}

/// Hides what [`redact`] hides, and the ids of subscriptions and tenants where they are labeled as such or stand in a
/// resource id: for text that leaves the house.
#[must_use]
pub fn redact_with_ids(text: &str) -> Redacted {
    settle(text, true)
}

/// Applies the rules until they find nothing.
fn settle(text: &str, ids: bool) -> Redacted {
    let mut redacted = Redacted { text: text.to_owned(), count: 0, categories: BTreeSet::new() };
    for _ in 0..MAX_PASSES {
        let mut found = scan::text(&redacted.text);
        found.retain(|span| ids || !span.is_identifier());
        let spans = merge(found);
        if spans.is_empty() {
            return redacted;
        }
        redacted.count += spans.len();
        redacted.categories.extend(spans.iter().map(|span| span.category));
        redacted.text = replace(&redacted.text, &spans);
    }
    // Rules that keep finding something do not agree about the text. Showing it would be a guess.
    redacted.categories.insert("unsettled");
    redacted.text = "[redacted:unsettled]".to_owned();
    redacted
}
