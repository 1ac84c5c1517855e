//! A rule that is a pattern: every group that took part is hidden.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::span::{Span, is_placeholder};

/// A pattern of this program, compiled; they are constants, and a test compiles them all.
#[expect(
    clippy::expect_used,
    reason = "the patterns are constants of this program, and the tests compile each"
)]
pub(super) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern compiles")
}

/// One pattern with the name of what it hides.
pub(super) struct Rule {
    /// What the hidden stretch is.
    pub(super) category: &'static str,
    /// The pattern; its groups are hidden, or the whole match where it has none.
    pub(super) pattern: LazyLock<Regex>,
}

impl Rule {
    /// Appends what the rule hides in a text.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Span>) {
        for captures in self.pattern.captures_iter(text) {
            let skip = usize::from(captures.len() > 1);
            for group in captures.iter().skip(skip).flatten() {
                if !is_placeholder(group.as_str()) {
                    found.push(Span::new(group.range(), self.category));
                }
            }
        }
    }
}

/// Makes a rule of a category and a pattern.
macro_rules! rule {
    ($category:literal, $pattern:expr) => {
        $crate::redact::rule::Rule {
            category: $category,
            pattern: std::sync::LazyLock::new(|| $crate::redact::rule::pattern($pattern)),
        }
    };
}

pub(super) use rule;
