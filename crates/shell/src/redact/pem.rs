//! Private keys between `BEGIN` and `END` lines, also where one of the two was cut off.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::reader::{Reader, Rule, pattern, rule};

/// A `BEGIN` or `END` line of any kind.
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?-u)-{4,5} ?(BEGIN|END)[ +]([A-Za-z0-9 #+]{1,60}?)-{4,5}|^[A-Z -]{0,30}KEY(?: BLOCK)?-----")
});

/// A key file of PuTTY: the lines behind `Private-Lines`; and what stands between marks.
pub(super) static RULES: [Rule; 2] = [
    rule!(
        "private_key",
        ["private-lines: "],
        r"Private-Lines: [0-9]{1,3}\r?\n((?:[ \t]*[A-Za-z0-9+/=]{1,76}\r?\n?)+)"
    ),
    Rule::Walk(keys),
];

/// A line of a key's body: base64 or hexadecimal, or one of the headers in front of it.
static BODY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:[A-Za-z0-9+/=]{1,76}|[A-Za-z0-9+/=]{77,}|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject|X-[A-Za-z-]+): .*|#.*)$",
    )
});

/// The longest key with both its ends.
const MAX_KEY_BYTES: usize = 65_536;

/// A boundary between the parts of a key.
struct Mark {
    range: Range<usize>,
    begins: bool,
    private: bool,
}

/// Hides private keys.
fn keys(reader: &mut Reader<'_>) {
    let text = reader.text;
    if !text.contains("KEY") && !text.contains("Private-Lines") && !text.contains("key V1--") {
        return;
    }
    let marks: Vec<Mark> = MARK.captures_iter(text).filter_map(|captures| mark(text, &captures)).collect();
    let mut free = 0;
    let mut marks = marks.iter().peekable();
    while let Some(mark) = marks.next() {
        let next = marks.peek();
        if mark.private && mark.begins {
            let end = match next {
                Some(end)
                    if !end.begins && end.private && end.range.end - mark.range.start <= MAX_KEY_BYTES =>
                {
                    end.range.end
                }
                Some(_) | None => {
                    body_end(text, mark.range.end, next.map_or(text.len(), |next| next.range.start))
                }
            };
            reader.hide(mark.range.start..end, "private_key");
            free = end;
            if next.is_some_and(|next| next.range.end == end) {
                marks.next();
            }
        } else if mark.private {
            // The head was cut off: the body stands right before the end.
            let start = body_start(text, mark.range.start, free);
            reader.hide(start..mark.range.end, "private_key");
            free = mark.range.end;
        } else {
            free = mark.range.end;
        }
    }
}

/// Reads a boundary.
fn mark(text: &str, captures: &regex::Captures<'_>) -> Option<Mark> {
    let whole = captures.get(0)?;
    let Some(label) = captures.get(2) else {
        // The first line of the text, its own head cut off.
        let private = !whole.as_str().contains("PUBLIC") && !whole.as_str().contains("BEGIN");
        return (whole.start() == 0).then(|| Mark { range: whole.range(), begins: true, private });
    };
    // A form writes blanks as plus signs.
    let label = label.as_str().replace('+', " ");
    let private =
        label.contains("PRIVATE KEY") || label.contains("OpenVPN Static key") || label.contains("SECRET KEY");
    let begins = captures.get(1)?.as_str() == "BEGIN";
    debug_assert!(whole.end() <= text.len());
    Some(Mark { range: whole.range(), begins, private })
}

/// Walks forward over the lines of a body.
fn body_end(text: &str, start: usize, limit: usize) -> usize {
    let mut end = start;
    let mut at = start;
    let mut prefixed = false;
    for (line, next) in lines(text.get(start..limit).unwrap_or_default()) {
        let inside = trimmed(line);
        // A log puts its own words before each line of a key.
        let last = inside.rsplit([' ', '\t']).next().unwrap_or_default();
        if last.len() < inside.len()
            && last.bytes().all(is_body)
            && (last.len() >= 40 || (prefixed && last.ends_with('=')))
        {
            prefixed = true;
            at = start + next;
            end = at - line_break(text.get(..at).unwrap_or_default());
            continue;
        }
        if !inside.is_empty() && !BODY.is_match(inside) {
            // The last line may be followed by something else: `MII…", "next": 1`.
            return run_end(line, at == start).map_or(end, |run| at + run);
        }
        at = start + next;
        if !inside.is_empty() {
            // The line break behind the last line stays.
            end = at - line_break(text.get(..at).unwrap_or_default());
        }
    }
    end
}

/// Measures the line break at the end of a text.
fn line_break(text: &str) -> usize {
    text.len() - text.trim_end_matches(['\n', '\r', ' ', '\t']).len()
}

/// Finds where the words of a body end that stand in one line with something else.
fn run_end(line: &str, first: bool) -> Option<usize> {
    let mut end = None;
    let mut at = 0;
    let mut long = first;
    for word in line.split_inclusive([' ', '\t']) {
        let run = word.bytes().take_while(|byte| is_body(*byte)).count();
        // The last word of a body is short, the words before it are not.
        if word.trim().is_empty() {
            at += word.len();
            continue;
        }
        let closed = matches!(word.as_bytes().get(run), Some(b'"' | b'\'' | b'`' | b'<'));
        if run == 0 || (run < 16 && !long && !closed) {
            break;
        }
        end = Some(at + run);
        long = run >= 40;
        at += word.len();
        if run < word.trim_end().len() {
            break;
        }
    }
    end
}

/// Walks back over the lines of a body.
fn body_start(text: &str, end: usize, limit: usize) -> usize {
    let before = text.get(limit..end).unwrap_or_default();
    let parts: Vec<(&str, usize)> = lines(before).collect();
    let mut start = end;
    for (index, (line, next)) in parts.iter().enumerate().rev() {
        let from = index.checked_sub(1).and_then(|index| parts.get(index)).map_or(0, |(_, next)| *next);
        let inside = trimmed(line);
        if !inside.is_empty() && !BODY.is_match(inside) {
            let run = line.bytes().rev().take_while(|byte| is_body(*byte)).count();
            return if run >= 16 { limit + from + line.len() - run } else { start };
        }
        if !inside.is_empty() || *next < before.len() {
            start = limit + from;
        }
    }
    start
}

/// Cuts a text at its line breaks, real ones and escaped ones; each line comes with the place behind its break.
fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let found = rest.bytes().enumerate().find_map(|(index, byte)| match byte {
            b'\n' => Some((index, index + 1)),
            b'\\' => Some((index, index + escaped_break(rest.get(index..).unwrap_or_default()))),
            _ => None,
        });
        let (end, next) = found.unwrap_or((rest.len(), rest.len()));
        at += next;
        Some((rest.get(..end).unwrap_or_default(), at))
    })
}

/// Measures an escaped line break: `\n`, `\r\n`, `\\n`.
fn escaped_break(text: &str) -> usize {
    let slashes = text.bytes().take_while(|byte| *byte == b'\\').count();
    let letter = usize::from(matches!(text.as_bytes().get(slashes), Some(b'n' | b'r')));
    slashes + letter
}

/// Takes from a line what a viewer put around it: spaces, `> `, a diff's sign, a line number.
fn trimmed(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches(['>', '|', '+', '-', ' ', '\t']);
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    match line.get(number..).map(|rest| rest.trim_start_matches([':', '\t', ' ', '|'])) {
        Some(rest) if number > 0 && number < 6 && rest.len() + number < line.len() => rest,
        Some(_) | None => line,
    }
}

/// Tells whether a byte belongs to a body.
fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: &str = "PRIVATE";

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let text = text.replace("PRIV", WORD);
        let mut reader = Reader::new(&text);
        reader.apply(&RULES);
        assert_eq!(crate::redact::span::replace(&text, &reader.found), expected, "{text}");
    }

    #[test]
    fn a_whole_key_is_one_placeholder() {
        check("a\n-----BEGIN PRIV KEY-----\nMIIE\n-----END PRIV KEY-----\nb", "a\n[redacted:private_key]\nb");
        check(
            "-----BEGIN RSA PRIV KEY-----\r\nMIIE\r\n-----END RSA PRIV KEY-----\r\nb",
            "[redacted:private_key]\r\nb",
        );
    }

    #[test]
    fn a_key_without_its_end_reaches_to_the_last_line_of_base64() {
        check("-----BEGIN PRIV KEY-----\nMIIE\nAAAA\n\nlog line: x", "[redacted:private_key]\n\nlog line: x");
        check("-----BEGIN PRIV KEY-----\\nMIIE\\nAA\", \"b\": 1", "[redacted:private_key]\", \"b\": 1");
    }

    #[test]
    fn a_key_without_its_head_reaches_back_to_the_first_line_of_base64() {
        check(
            "some log line\nMIIE\nAAAA\n-----END PRIV KEY-----\nb",
            "some log line\n[redacted:private_key]\nb",
        );
        check("VATE KEY-----\nMIIE\n", "[redacted:private_key]\n");
    }

    #[test]
    fn certificates_and_public_keys_stay() {
        for kind in ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE REQUEST"] {
            let text = format!("-----BEGIN {kind}-----\nMIIB\n-----END {kind}-----");
            check(&text, &text);
        }
    }

    #[test]
    fn a_certificate_behind_a_cut_key_stays() {
        check(
            "-----BEGIN PRIV KEY-----\nMIIE\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "[redacted:private_key]\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        );
    }
}
