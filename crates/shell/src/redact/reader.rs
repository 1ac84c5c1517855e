//! The one reader of a text: it applies rules, and keeps what they hide.
//!
//! A rule is a pattern and what becomes of its matches: every group is hidden, or a function examines the match and decides. What has no
//! pattern, such as the rows of a table, is a walk.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::redact::name::Meaning;
use crate::redact::span::{Span, is_placeholder};

/// A pattern of this program, compiled; they are constants, and a test compiles them all.
#[expect(
    clippy::expect_used,
    reason = "the patterns are constants of this program, and the tests compile each"
)]
pub(super) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern compiles")
}

/// One method to find secrets.
pub(super) enum Rule {
    /// What a pattern finds, the pattern, and the function that examines its matches.
    Match(&'static str, LazyLock<Regex>, fn(&mut Reader<'_>, &PatternMatch<'_>)),
    /// Reads the text by itself.
    Walk(fn(&mut Reader<'_>)),
}

/// Makes a rule: `rule!(category, pattern)` hides every group, `rule!(category, pattern, function)` and `rule!(function, pattern)` ask.
macro_rules! rule {
    ($category:literal, $pattern:expr) => {
        rule!($category, $pattern, $crate::redact::reader::groups)
    };
    ($decide:ident, $pattern:expr) => {
        rule!("", $pattern, $decide)
    };
    ($category:literal, $pattern:expr, $decide:expr) => {
        $crate::redact::reader::Rule::Match(
            $category,
            std::sync::LazyLock::new(|| $crate::redact::reader::pattern($pattern)),
            $decide,
        )
    };
}

pub(super) use rule;

pub(super) struct PatternMatch<'t> {
    /// What the rule says that it finds.
    pub(super) category: &'static str,
    captures: Captures<'t>,
}

impl<'t> PatternMatch<'t> {
    /// Returns where a group stands; nowhere if it took no part.
    pub(super) fn range(&self, group: usize) -> Range<usize> {
        self.captures.get(group).map_or(0..0, |found| found.range())
    }

    /// Returns the text of a group.
    pub(super) fn text(&self, group: usize) -> &'t str {
        self.captures.get(group).map_or("", |found| found.as_str())
    }
}

/// A text, and what was found in it.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    /// What is to be hidden, in the order in which it was found.
    pub(super) found: Vec<Span>,
    /// Where the pattern at hand goes on: matches that begin before are passed over.
    pub(super) next: usize,
}

impl<'t> Reader<'t> {
    /// Begins with a text.
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, found: Vec::new(), next: 0 }
    }

    /// Applies rules, one after the other.
    pub(super) fn apply(&mut self, rules: &[Rule]) {
        for rule in rules {
            match rule {
                Rule::Match(category, pattern, decide) => self.each(category, pattern, decide),
                Rule::Walk(walk) => walk(self),
            }
        }
    }

    /// Goes through the matches of a pattern; a match begins where its first group does.
    pub(super) fn each(
        &mut self,
        category: &'static str,
        pattern: &Regex,
        decide: impl Fn(&mut Self, &PatternMatch<'t>),
    ) {
        self.next = 0;
        for captures in pattern.captures_iter(self.text) {
            if captures.get(1).or(captures.get(0)).is_some_and(|begin| begin.start() >= self.next) {
                decide(self, &PatternMatch { category, captures });
            }
        }
    }

    /// Passes over matches that begin before a place.
    pub(super) fn skip_to(&mut self, place: usize) {
        self.next = self.next.max(place);
    }

    /// Hides a range.
    pub(super) fn hide(&mut self, range: Range<usize>, category: &'static str) {
        self.found.push(Span::new(range, category));
    }

    /// Hides a range if it can be the secret that its name promises.
    pub(super) fn hide_secret(&mut self, range: Range<usize>, meaning: Meaning) {
        if let Some(category) = meaning.of(self.text.get(range.clone()).unwrap_or_default()) {
            self.hide(range, category);
        }
    }
}

/// Hides the groups that took part, or the whole match where the pattern has none.
pub(super) fn groups(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    for group in place.captures.iter().skip(usize::from(place.captures.len() > 1)).flatten() {
        if !is_placeholder(group.as_str()) {
            reader.hide(group.range(), place.category);
        }
    }
}

/// Checks what rules hide in a text, in the order in which they find it.
#[cfg(test)]
#[track_caller]
pub(super) fn check(rules: &[Rule], text: &str, expected: &[&str]) {
    let mut reader = Reader::new(text);
    reader.apply(rules);
    let mut hidden: Vec<&str> = reader.found.iter().map(|span| &text[span.range.clone()]).collect();
    hidden.dedup();
    assert_eq!(hidden, expected, "{text}");
}
