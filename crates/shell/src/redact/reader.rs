//! The one reader of a text: it applies rules, and keeps what they hide.
//!
//! A rule is a pattern and what becomes of its matches: every group is hidden, or a function examines the match and decides. What has no
//! pattern, such as the rows of a table, is a walk.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::OnceLock;

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

/// What a text has to hold so that a pattern can match in it. A pattern is compiled when a text holds that for the first time: whoever reads
/// one short text pays for few of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    /// One of these, in lower case.
    Text(&'static [&'static str]),
    /// One of the words that [`meaning`](crate::redact::name::meaning) goes by: the rule asks it about every match.
    Stem,
    /// [`LONG`] letters, digits and marks of tokens one after the other, or what begins a short token.
    LongWord,
}

/// So many characters of a word make it long.
pub(super) const LONG: usize = 24;

/// What tokens begin with that need not be that long.
pub(super) const SHORT_TOKENS: [&str; 39] = [
    "xox",
    "xapp-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "glptt-",
    "gldt-",
    "glrt-",
    "glcbt-",
    "glft-",
    "glimt-",
    "glsoat-",
    "gloas-",
    "glffct-",
    "glsa_",
    "glc_",
    "sk-",
    "hf_",
    "k_live_",
    "k_test_",
    "whsec_",
    "tskey-",
    "atatt3",
    ".atlasv1.",
    "fm1_",
    "fm2_",
    "sntrys_",
    "sntryu_",
    "ya29.",
    "akia",
    "asia",
    "abia",
    "acca",
    "aiza",
    "dp.",
    "sg.",
];

/// Every name that may mean something contains one of these.
pub(super) const STEMS: [&str; 12] =
    ["pass", "pwd", "secret", "token", "key", "psk", "cred", "string", "auth", "pw", "cak", "signature"];

/// Longer texts are not looked through for every pattern: compiling it takes less time.
const MAX_LOOKED_THROUGH: usize = 64 << 10;

/// A pattern with what it needs.
pub(super) struct Pattern {
    /// What it finds.
    category: &'static str,
    /// What a text has to hold.
    pub(super) needs: Needs,
    /// The pattern as it is written.
    pub(super) source: &'static str,
    compiled: OnceLock<Regex>,
    decide: Decide,
}

/// What becomes of a match.
pub(super) type Decide = fn(&mut Reader<'_>, &PatternMatch<'_>);

impl Pattern {
    /// Makes one; nothing is compiled yet.
    pub(super) const fn new(
        category: &'static str,
        needs: Needs,
        source: &'static str,
        decide: Decide,
    ) -> Self {
        Self { category, needs, source, compiled: OnceLock::new(), decide }
    }
}

/// One method to find secrets.
pub(super) enum Rule {
    /// What a pattern finds, and the function that examines its matches.
    Match(Pattern),
    /// Reads the text by itself.
    Walk(fn(&mut Reader<'_>)),
}

/// Makes a rule: `rule!(category, needs, pattern)` hides every group, `rule!(category, needs, pattern, function)` and
/// `rule!(function, needs, pattern)` ask. `needs` is a list of texts, `STEMS` or `LONG`.
macro_rules! rule {
    ($category:literal, $needs:tt, $pattern:expr) => {
        rule!($category, $needs, $pattern, $crate::redact::reader::groups)
    };
    ($decide:ident, $needs:tt, $pattern:expr) => {
        rule!("", $needs, $pattern, $decide)
    };
    ($category:literal, STEMS, $pattern:expr, $decide:expr) => {
        rule!(@ $category, $crate::redact::reader::Needs::Stem, $pattern, $decide)
    };
    ($category:literal, LONG, $pattern:expr, $decide:expr) => {
        rule!(@ $category, $crate::redact::reader::Needs::LongWord, $pattern, $decide)
    };
    ($category:literal, [$($need:literal),+], $pattern:expr, $decide:expr) => {
        rule!(@ $category, $crate::redact::reader::Needs::Text(&[$($need),+]), $pattern, $decide)
    };
    (@ $category:literal, $needs:expr, $pattern:expr, $decide:expr) => {
        $crate::redact::reader::Rule::Match($crate::redact::reader::Pattern::new($category, $needs, $pattern, $decide))
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
    /// The text in lower case, once a pattern was to be compiled.
    lower: OnceCell<String>,
}

impl<'t> Reader<'t> {
    /// Begins with a text.
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, found: Vec::new(), next: 0, lower: OnceCell::new() }
    }

    /// Applies rules, one after the other.
    pub(super) fn apply(&mut self, rules: &[Rule]) {
        for rule in rules {
            match rule {
                Rule::Match(rule) => {
                    if rule.compiled.get().is_some() || self.holds(rule.needs) {
                        let compiled = rule.compiled.get_or_init(|| pattern(rule.source));
                        self.each(rule.category, compiled, rule.decide);
                    }
                }
                Rule::Walk(walk) => walk(self),
            }
        }
    }

    /// Tells whether the text may hold a match of what needs this.
    pub(super) fn holds(&self, needs: Needs) -> bool {
        if self.text.len() > MAX_LOOKED_THROUGH {
            return true;
        }
        let lower = self.lower.get_or_init(|| lowered(self.text));
        let any = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
        match needs {
            Needs::Text(texts) => any(texts),
            Needs::Stem => any(&STEMS),
            Needs::LongWord => has_long_word(self.text) || any(&SHORT_TOKENS),
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

/// Returns a text in lower case, as patterns that ignore case see it: two other characters count as letters of ASCII there.
fn lowered(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    if lower.is_ascii() { lower } else { lower.replace('\u{17f}', "s").replace('\u{212a}', "k") }
}

/// Tells whether a character may stand inside a token.
pub(super) fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

fn has_long_word(text: &str) -> bool {
    text.as_bytes().split(|byte| !is_of_token(*byte)).any(|word| word.len() >= LONG)
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
