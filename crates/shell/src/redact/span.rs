//! A stretch of text that must not be shown, and the placeholder that stands in its place.

use std::ops::Range;

/// How every placeholder begins.
pub(super) const OPENING: &str = "[redacted:";

/// One stretch to hide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// The bytes to hide; both ends lie between characters.
    pub(super) range: Range<usize>,
    /// What was found there.
    pub(super) category: &'static str,
    /// How the placeholder is written.
    pub(super) form: Form,
}

/// How a placeholder is written so that the text around it stays what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is: inside a JSON string, or in plain text.
    Bare,
    /// As a JSON string of its own, because a number stood there. The count says in how many JSON strings the
    /// number was wrapped, and so how its quotation marks are escaped.
    Quoted(u32),
    /// In UTF-16: a zero byte behind every letter.
    Wide,
}

impl Span {
    /// Hides a range behind a bare placeholder.
    pub(super) fn new(range: Range<usize>, category: &'static str) -> Self {
        Self { range, category, form: Form::Bare }
    }

    /// Tells whether it names a subscription or a tenant, which is no secret.
    pub(super) fn is_identifier(&self) -> bool {
        matches!(self.category, "subscription_id" | "tenant_id")
    }

    /// Moves the span by a distance.
    pub(super) fn shifted(mut self, by: usize) -> Self {
        self.range = self.range.start + by..self.range.end + by;
        self
    }

    /// Appends the placeholder.
    fn write(&self, out: &mut String) {
        if self.form == Form::Wide {
            for part in [OPENING, self.category, "]"] {
                part.chars().for_each(|letter| out.extend([letter, '\0']));
            }
            return;
        }
        let quote = match self.form {
            Form::Bare | Form::Wide => String::new(),
            // Each string around adds an escape to every mark: `"`, `\"`, `\\\"`.
            Form::Quoted(depth) => format!("{}\"", "\\".repeat((1_usize << depth.min(16)) - 1)),
        };
        out.push_str(&quote);
        out.push_str(OPENING);
        out.push_str(self.category);
        out.push(']');
        out.push_str(&quote);
    }
}

/// Sorts the spans and joins those that overlap; the widest names the category.
pub(super) fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| !span.range.is_empty());
    spans.sort_by(|a, b| a.range.start.cmp(&b.range.start).then(b.range.end.cmp(&a.range.end)));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                if span.form == Form::Wide {
                    last.form = Form::Wide;
                } else if span.range.len() > last.range.len() && last.form != Form::Wide {
                    last.category = span.category;
                    last.form = span.form;
                }
                last.range.end = last.range.end.max(span.range.end);
            }
            Some(_) | None => merged.push(span),
        }
    }
    merged
}

/// Writes the text with a placeholder in the place of each span; the spans come from [`merge`].
pub(super) fn replace(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut shown = 0;
    for span in spans {
        out.push_str(text.get(shown..span.range.start).unwrap_or_default());
        span.write(&mut out);
        shown = span.range.end;
    }
    out.push_str(text.get(shown..).unwrap_or_default());
    out
}

/// Tells whether a value is nothing but a placeholder of an earlier pass, with or without the marks around it.
pub(super) fn is_placeholder(value: &str) -> bool {
    value.strip_prefix(OPENING).is_some_and(|rest| {
        let marks = rest.trim_start_matches(|letter: char| letter.is_ascii_lowercase() || letter == '_');
        marks.len() < rest.len() && marks.chars().all(|letter| "]\"'`,;:.)}>\\ \t".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_become_one() {
        let spans = vec![Span::new(4..9, "token"), Span::new(0..6, "password"), Span::new(9..10, "secret")];
        let merged = merge(spans);
        assert_eq!(merged, [Span::new(0..9, "password"), Span::new(9..10, "secret")]);
    }

    #[test]
    fn a_number_becomes_a_string_at_every_depth() {
        for (depth, expected) in [(0, r#""[redacted:pin]""#), (1, r#"\"[redacted:pin]\""#)] {
            let span = Span { range: 0..1, category: "pin", form: Form::Quoted(depth) };
            assert_eq!(replace("7", &[span]), expected);
        }
    }
}
