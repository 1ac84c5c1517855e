//! A text as it reads once something that lies over it is taken off: colors, wide characters, percent codes, line breaks.
//!
//! A secret that is only visible there is hidden where its bytes stand, so every view maps its bytes to those of the text.

use std::collections::HashSet;
use std::ops::Range;

use crate::redact::span::{Form, Span};

/// Line widths at which programs fold text.
const WIDTHS: [usize; 19] =
    [60, 64, 70, 72, 75, 76, 77, 78, 79, 80, 90, 96, 100, 120, 128, 132, 140, 160, 200];

/// The longest escape sequence that is looked for.
const MAX_ESCAPE_LEN: usize = 256;

/// How many letters in a row, each followed by a zero byte, are UTF-16.
const WIDE_RUN: usize = 6;

/// A stretch of a view that follows a stretch of the text, `step` bytes of the text for each byte shown.
#[derive(Debug, Clone, Copy)]
struct Mapping {
    shown: usize,
    raw: usize,
    step: usize,
}

/// A text that was made readable, and where each byte of it came from.
#[derive(Debug, Default)]
pub(super) struct View {
    /// What can be read.
    pub(super) text: String,
    parts: Vec<Mapping>,
    /// The places in `text` where a line break was taken out.
    joins: Vec<usize>,
}

impl View {
    /// Appends a stretch of the text as it is.
    fn keep(&mut self, text: &str, range: Range<usize>) {
        if !range.is_empty() {
            self.begin(range.start, 1);
            self.text.push_str(text.get(range).unwrap_or_default());
        }
    }

    /// Appends one ASCII character that took `step` bytes.
    fn put(&mut self, byte: u8, raw: usize, step: usize) {
        self.begin(raw, step);
        self.text.push(char::from(byte));
    }

    /// Begins a mapping, unless the last one continues.
    fn begin(&mut self, raw: usize, step: usize) {
        let shown = self.text.len();
        let goes_on = self
            .parts
            .last()
            .is_some_and(|last| last.step == step && last.raw + (shown - last.shown) * step == raw);
        if !goes_on {
            self.parts.push(Mapping { shown, raw, step });
        }
    }

    /// Returns the mapping that shows a byte.
    fn part(&self, shown: usize) -> Option<Mapping> {
        let index = self.parts.partition_point(|part| part.shown <= shown);
        self.parts.get(index.checked_sub(1)?).copied()
    }

    /// Moves a span of the view to the bytes of the text that it came from.
    pub(super) fn raw(&self, span: Span) -> Option<Span> {
        let last = span.range.end.checked_sub(1)?;
        let (from, to) = (self.part(span.range.start)?, self.part(last)?);
        let start = from.raw + (span.range.start - from.shown) * from.step;
        let end = to.raw + (span.range.end - to.shown) * to.step;
        let form = if from.step == 2 && to.step == 2 { Form::Wide } else { span.form };
        Some(Span { range: start..end, category: span.category, form })
    }

    /// Tells whether line breaks were taken out.
    pub(super) fn is_joined(&self) -> bool {
        !self.joins.is_empty()
    }

    /// Tells whether a span covers a place where a line break was taken out, and none of the lines behind it begins at
    /// one of the places `begun`.
    pub(super) fn crosses(&self, range: &Range<usize>, begun: &HashSet<usize>) -> bool {
        let next = self.joins.partition_point(|join| *join <= range.start);
        let inside = self.joins.get(next..).unwrap_or_default().iter().take_while(|join| **join < range.end);
        let mut any = false;
        for join in inside {
            any = true;
            if self.part(*join).is_some_and(|part| begun.contains(&part.raw)) {
                return false;
            }
        }
        any
    }
}

/// Takes off the first thing that lies over a text; `None` where nothing does. What lies below is found in the view.
pub(super) fn plainer(text: &str) -> Option<View> {
    without_escapes(text)
        .or_else(|| without_invisible(text))
        .or_else(|| narrow(text))
        .or_else(|| decoded(text))
        .or_else(|| unwrapped(text))
}

/// Takes the orders to a terminal out of a text.
fn without_escapes(text: &str) -> Option<View> {
    if !text.contains(['\u{1b}', '\u{9b}', '\u{8}']) {
        return None;
    }
    let mut view = View::default();
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['\u{1b}', '\u{9b}', '\u{8}'])) {
        let escape = at + found;
        let rest = text.get(escape..).unwrap_or_default();
        let (from, length) = match rest.chars().next() {
            // A letter, a step back, and the letter again: bold on paper.
            Some('\u{8}') => {
                let before = text.get(start..escape).and_then(|shown| shown.chars().next_back());
                (escape - before.map_or(0, char::len_utf8), 1)
            }
            Some('\u{9b}') => (escape, 2 + sequence(rest.get(2..).unwrap_or_default())),
            _ => (escape, escape_length(rest)),
        };
        view.keep(text, start..from);
        start = escape + length;
        at = start;
    }
    view.keep(text, start..text.len());
    Some(view)
}

/// Measures an escape sequence that begins a text.
fn escape_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(b'[') => 2 + sequence(text.get(2..).unwrap_or_default()),
        Some(b']' | b'P' | b'_' | b'^' | b'X') => {
            let body = bytes.get(2..).unwrap_or_default();
            let end = body.iter().take(MAX_ESCAPE_LEN).position(|byte| matches!(byte, 0x07 | 0x1b));
            match end {
                Some(end) if body.get(end) == Some(&0x1b) && body.get(end + 1) == Some(&b'\\') => end + 4,
                Some(end) if body.get(end) == Some(&0x07) => end + 3,
                Some(_) | None => 2,
            }
        }
        Some(b'(' | b')' | b'*' | b'+') if bytes.get(2).is_some_and(u8::is_ascii) => 3,
        Some(byte) if byte.is_ascii_graphic() => 2,
        Some(_) | None => 1,
    }
}

/// Measures the parameters and the last letter of a control sequence.
fn sequence(text: &str) -> usize {
    let parameters = text.bytes().take(MAX_ESCAPE_LEN).take_while(|byte| (0x20..0x40).contains(byte)).count();
    let ends = text.as_bytes().get(parameters).is_some_and(|byte| (0x40..0x7f).contains(byte));
    parameters + usize::from(ends)
}

/// Reads UTF-16 that was taken for UTF-8: every letter is followed by a zero byte.
fn narrow(text: &str) -> Option<View> {
    if !text.contains('\0') {
        return None;
    }
    let bytes = text.as_bytes();
    let pair = |at: usize| {
        let letter = bytes.get(at).copied().filter(|byte| byte.is_ascii() && *byte != 0)?;
        (bytes.get(at + 1) == Some(&0)).then_some(letter)
    };
    let mut view = View::default();
    let (mut start, mut at) = (0, 0);
    let mut found = false;
    while at < bytes.len() {
        let run = (0..).take_while(|index| pair(at + 2 * index).is_some()).count();
        if run < WIDE_RUN {
            at += (2 * run).max(1);
            continue;
        }
        found = true;
        view.keep(text, start..at);
        for index in 0..run {
            if let Some(letter) = pair(at + 2 * index) {
                view.put(letter, at + 2 * index, 2);
            }
        }
        at += 2 * run;
        start = at;
    }
    view.keep(text, start..text.len());
    found.then_some(view)
}

/// Characters that take no room on a terminal and part a word for who searches it.
const INVISIBLE: [char; 9] = [
    '\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{2061}', '\u{feff}',
];

/// Takes characters out of a text that cannot be seen.
fn without_invisible(text: &str) -> Option<View> {
    if text.is_ascii() || !text.contains(INVISIBLE) {
        return None;
    }
    let mut view = View::default();
    let mut start = 0;
    for (at, hidden) in text.match_indices(INVISIBLE) {
        view.keep(text, start..at);
        start = at + hidden.len();
    }
    view.keep(text, start..text.len());
    Some(view)
}

/// Names of entities that stand in an assignment.
const ENTITIES: [(&str, u8); 8] = [
    ("&quot;", b'"'),
    ("&apos;", b'\''),
    ("&amp;", b'&'),
    ("&lt;", b'<'),
    ("&gt;", b'>'),
    ("&equals;", b'='),
    ("&colon;", b':'),
    ("&num;", b'#'),
];

/// Reads a code of ASCII at the beginning of a text: `%3D`, `\x3d`, `&#61;`, `&#x3d;`, `&quot;`. Returns it with its length.
fn code(text: &str) -> Option<(u8, usize)> {
    let number = |from: usize, to: usize, radix: u32| {
        let digits = text.get(from..to)?;
        let plain = digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
        u8::from_str_radix(digits, radix).ok().filter(|_| plain)
    };
    let (byte, length) = if text.starts_with('%') {
        (number(1, 3, 16)?, 3)
    } else if text.starts_with("\\x") {
        (number(2, 4, 16)?, 4)
    } else if let Some(rest) = text.strip_prefix("&#") {
        let end = 2 + rest.bytes().take(8).position(|byte| byte == b';')?;
        let hex = rest.starts_with(['x', 'X']);
        (if hex { number(3, end, 16)? } else { number(2, end, 10)? }, end + 1)
    } else {
        let (name, byte) = ENTITIES.iter().find(|(name, _)| text.starts_with(name))?;
        (*byte, name.len())
    };
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~').then_some((byte, length))
}

/// Decodes codes of ASCII.
fn decoded(text: &str) -> Option<View> {
    let mut view = View::default();
    let mut start = 0;
    for (at, _) in text.match_indices(['%', '\\', '&']) {
        if at >= start
            && let Some((byte, length)) = text.get(at..).and_then(code)
        {
            view.keep(text, start..at);
            view.put(byte, at, length);
            start = at + length;
        }
    }
    if start == 0 {
        return None;
    }
    view.keep(text, start..text.len());
    Some(view)
}

/// Joins lines that were cut in the middle of a word.
fn unwrapped(text: &str) -> Option<View> {
    if text.len() < 60 || !text.contains('\n') {
        return None;
    }
    let mut view = View::default();
    let mut lines = text.split_inclusive('\n').peekable();
    let (mut start, mut at) = (0, 0);
    let mut width = None;
    while let Some(line) = lines.next() {
        let body = line.trim_end_matches(['\n', '\r']);
        let next = lines.peek().map(|next| next.trim_end_matches(['\n', '\r'])).unwrap_or_default();
        let cut = line.len() > body.len() && is_cut(body, next, width);
        width = cut.then(|| width.unwrap_or(body.len()));
        if cut {
            view.keep(text, start..at + body.len());
            view.joins.push(view.text.len());
            start = at + line.len() + (next.len() - next.trim_start_matches([' ', '\t']).len());
        }
        at += line.len();
    }
    if view.joins.is_empty() {
        return None;
    }
    view.keep(text, start..text.len());
    Some(view)
}

/// Tells whether a line goes on in the next one without anything between the two; `width` is that of the lines before it
/// that did.
fn is_cut(line: &str, next: &str, width: Option<usize>) -> bool {
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_.~%-".contains(byte);
    let (Some(last), Some(first)) = (line.as_bytes().last(), next.as_bytes().first()) else { return false };
    let full = width.map_or_else(|| WIDTHS.contains(&line.len()), |width| width == line.len());
    if full && next.len() <= line.len() && !last.is_ascii_whitespace() && !first.is_ascii_whitespace() {
        return true;
    }
    let inner = next.trim_matches([' ', '\t']);
    let tail = line.bytes().rev().take(41).take_while(token).count();
    let kinds: [fn(&u8) -> bool; 3] = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase];
    let random = inner.len() >= 16 && kinds.iter().all(|kind| inner.bytes().any(|byte| kind(&byte)));
    tail >= 40 && inner.len() <= line.len() && inner.bytes().all(|byte| token(&byte)) && random
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the view of a text, and maps one word of it to the text.
    #[track_caller]
    fn check(view: Option<View>, raw: &str, shown: &str, word: &str, expected: &str) {
        let view = view.expect("something lies over the text");
        assert_eq!(view.text, shown);
        let at = view.text.find(word).unwrap();
        let span = view.raw(Span::new(at..at + word.len(), "token")).unwrap();
        assert_eq!(&raw[span.range], expected);
    }

    #[test]
    fn colors_are_taken_off_and_stay_around_what_is_hidden() {
        let raw = "a \u{1b}[01;31m\u{1b}[Kpassword\u{1b}[m=\u{1b}[1mx\u{1b}[0m1\u{1b}[0m b";
        check(without_escapes(raw), raw, "a password=x1 b", "x1", "x\u{1b}[0m1");
        let raw = "\u{1b}]0;title\u{7}p\u{8}pw";
        check(without_escapes(raw), raw, "pw", "w", "w");
    }

    #[test]
    fn what_cannot_be_seen_is_taken_out() {
        let raw = "pass\u{200b}word=x\u{2060}1 b";
        check(without_invisible(raw), raw, "password=x1 b", "x1", "x\u{2060}1");
        assert!(without_invisible("größer").is_none());
    }

    #[test]
    fn wide_letters_become_narrow() {
        let raw: String = "token=ab1 c".chars().flat_map(|char| [char, '\0']).collect();
        check(narrow(&raw), &raw, "token=ab1 c", "ab1", "a\0b\x001\0");
        assert!(narrow("A=b\0C=d\0E=f\0").is_none());
    }

    #[test]
    fn percent_codes_are_decoded_once() {
        let raw = "p%61ss%3Dx%25y z";
        check(decoded(raw), raw, "pass=x%y z", "x%y", "x%25y");
        assert!(decoded("100% of %d and %zz").is_none());
        let raw = "p&#97;ss&equals;x&#x79;\\x7a w";
        check(decoded(raw), raw, "pass=xyz w", "xyz", "x&#x79;\\x7a");
        assert!(decoded("a & b, &nbsp; &#; &#999; \\n").is_none());
    }

    #[test]
    fn a_word_over_two_lines_is_one_word() {
        let head = "x".repeat(72);
        let raw = format!("{head}tok1\r\nen2 rest\nnext");
        check(unwrapped(&raw), &raw, &format!("{head}tok1en2 rest\nnext"), "tok1en2", "tok1\r\nen2");
        assert!(unwrapped("short\nlines\nof a log").is_none());
    }
}
