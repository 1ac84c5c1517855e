//! A JSON string without its escapes, and for each character the bytes that wrote it.

use std::borrow::Cow;
use std::ops::Range;

use crate::redact::span::{Form, Span};

/// The decoded content of a JSON string.
pub(super) struct Decoded<'a> {
    /// The content.
    pub(super) text: Cow<'a, str>,
    /// Pairs of places, decoded and raw; between two pairs both count bytes alike.
    anchors: Vec<(usize, usize)>,
}

impl<'a> Decoded<'a> {
    /// Decodes what stands between the quotation marks. An escape that is none stays as it is.
    pub(super) fn of(raw: &'a str) -> Self {
        if !raw.contains('\\') {
            return Self { text: Cow::Borrowed(raw), anchors: vec![(0, 0)] };
        }
        let mut text = String::with_capacity(raw.len());
        let mut anchors = vec![(0, 0)];
        let mut at = 0;
        while let Some(found) = raw.get(at..).and_then(|rest| rest.find('\\')) {
            let escape = at + found;
            text.push_str(raw.get(at..escape).unwrap_or_default());
            let (letter, length) = unescape(raw.get(escape..).unwrap_or_default());
            anchors.push((text.len(), escape));
            text.push(letter);
            at = escape + length;
            anchors.push((text.len(), at));
        }
        text.push_str(raw.get(at..).unwrap_or_default());
        Self { text: Cow::Owned(text), anchors }
    }

    /// Moves a span of the decoded text to the bytes that wrote it.
    pub(super) fn raw(&self, span: Span) -> Span {
        let form = match span.form {
            Form::Bare => Form::Bare,
            // Each zero byte is an escape here.
            Form::Wide => Form::Bare,
            Form::Quoted(depth) => Form::Quoted(depth + 1),
        };
        let range: Range<usize> = self.place(span.range.start)..self.place(span.range.end);
        Span { range, category: span.category, form }
    }

    /// Finds the raw place of a decoded one.
    fn place(&self, decoded: usize) -> usize {
        let index = self.anchors.partition_point(|(at, _)| *at <= decoded).saturating_sub(1);
        self.anchors.get(index).map_or(decoded, |(at, raw)| raw + (decoded - at))
    }
}

/// Reads one escape: the character, and how many bytes wrote it.
fn unescape(text: &str) -> (char, usize) {
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(mark @ (b'"' | b'\\' | b'/')) => (char::from(*mark), 2),
        Some(b'u') => match (unit(text, 2), unit(text, 8)) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) if text.get(6..8) == Some("\\u") => {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _) => ('\\', 1),
        },
        Some(_) | None => ('\\', 1),
    }
}

/// Reads four hexadecimal digits.
fn unit(text: &str, at: usize) -> Option<u32> {
    u32::from_str_radix(text.get(at..at + 4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_leads_back_to_its_escape() {
        let decoded = Decoded::of(r#"a\n\u00e9\ud83d\ude00"b"#);
        assert_eq!(decoded.text, "a\né😀\"b");
        let places: Vec<usize> = decoded.text.char_indices().map(|(at, _)| decoded.place(at)).collect();
        assert_eq!(places, [0, 1, 3, 9, 21, 22]);
        assert_eq!(decoded.place(decoded.text.len()), 23);
    }
}
