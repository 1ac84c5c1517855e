//! Where a value ends, and whether it can be a secret at all.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::name::Strength;
use crate::redact::reader::pattern;
use crate::redact::span::{OPENING, is_placeholder};

/// How far a value is read ahead to decide whether a comma ends it.
const MAX_LOOKAHEAD_BYTES: usize = 48;

/// The longest connection string without quotation marks.
const MAX_PARTS_LEN: usize = 4096;

/// A value as it stands in the text, without its quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// Whether quotation marks stood around it.
    pub(super) quoted: bool,
}

/// Words that say what became of a secret, or that there is none.
static STATES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "true false yes no none null nil on off undefined n/a na not is was the an and or for of to has are \
     be been ok okay expired invalid incorrect missing required failed failure denied mismatch unknown \
     revoked rejected accepted unset set changed empty authentication verification must cannot unable \
     wrong error present absent enabled disabled valid hidden sensitive redacted filtered masked string \
     -- - ... … optional default prompt ask securestring %prompt nullable unauthorized forbidden found \
     supported provided permission signature could should will can may does did doesn't didn't too \
     expires"
        .split(' ')
        .collect()
});

/// The sources of a name service: `passwd: files sss` is no password.
static SOURCES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| "files compat db nis nisplus sss ldap winbind systemd extrausers".split(' ').collect());

/// A connection string without quotation marks: its parts may hold spaces, its last one ends at a space.
static PARTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:[A-Za-z][A-Za-z0-9 _.-]{0,40}=[^;\r\n"'`]*; ?)+(?:[A-Za-z][A-Za-z0-9 _.-]{0,40}=[^;\s"'`]+)?"#,
    )
});

/// Finds the value that begins at a place; `None` where the line has no value there.
pub(super) fn value_at(text: &str, start: usize, category: &str) -> Option<Value> {
    let rest = text.get(start..)?;
    let slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
    let quote = rest.as_bytes().get(slashes).copied()?;
    if matches!(quote, b'"' | b'\'' | b'`') {
        let from = start + slashes + 1;
        return Some(Value { range: from..closing_quote(text, from, quote, slashes), quoted: true });
    }
    if category == "connection_string"
        && let Some(parts) = PARTS.find(head(rest))
    {
        return Some(Value { range: start..start + parts.as_str().trim_end().len(), quoted: false });
    }
    let end = plain_end(text, start);
    (end > start).then_some(Value { range: start..end, quoted: false })
}

/// Returns the part of a text that a connection string may fill.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_PARTS_LEN)).unwrap_or(text)
}

/// Finds the closing mark of a quoted value, or the end of its line where it was cut off.
fn closing_quote(text: &str, from: usize, quote: u8, slashes: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut run = 0;
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'\n' => return if bytes.get(at - 1) == Some(&b'\r') && at > from { at - 1 } else { at },
            b'\\' => run += 1,
            // A mark behind more backslashes than the opening one belongs to the value.
            found if found == quote && (run == slashes || (slashes == 0 && run % 2 == 0)) => {
                let doubled = slashes == 0 && quote == b'\'' && bytes.get(at + 1) == Some(&quote);
                if !doubled {
                    return at - slashes;
                }
                at += 1;
                run = 0;
            }
            _ => run = 0,
        }
        at += 1;
    }
    text.len()
}

/// Finds the end of a value without quotation marks.
///
/// Punctuation ends it only where something else begins behind: passwords hold commas and brackets too.
fn plain_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    // A placeholder of an earlier pass is one token.
    let mut at = start;
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'[' if text.get(at..).is_some_and(|rest| rest.starts_with(OPENING)) => {
                at += text.get(at..).and_then(|rest| rest.find(']')).unwrap_or(0);
            }
            byte if byte.is_ascii_whitespace() || matches!(byte, 0 | 0x1b) => break,
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\') | None) => {
                break;
            }
            b'<' if bytes.get(at + 1) == Some(&b'/') => break,
            b'%' if at > start
                && text.get(at..at + 3).is_some_and(|code| {
                    matches!(
                        code,
                        "%26" | "%22" | "%2C" | "%3B" | "%0A" | "%0D" | "%27" | "%2c" | "%3b" | "%0a" | "%0d"
                    )
                }) =>
            {
                break;
            }
            b',' | b';' | b'&' | b')' | b']' | b'}' | b'>' | b'"' | b'\'' | b'`' | b'|'
                if ends_value(text, at) =>
            {
                break;
            }
            _ => {}
        }
        at += 1;
    }
    at.min(text.len())
}

/// Tells whether the punctuation at a place ends the value before it.
fn ends_value(text: &str, at: usize) -> bool {
    let mut rest = text.as_bytes().get(at..).unwrap_or_default();
    rest = rest.get(..MAX_LOOKAHEAD_BYTES).unwrap_or(rest);
    let marks = rest.iter().take_while(|byte| b",;&)]}>\"'`|\\:.".contains(byte)).count();
    let rest = rest.get(marks..).unwrap_or_default();
    let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-$".contains(byte)).count();
    match rest.first() {
        None => true,
        Some(byte) if byte.is_ascii_whitespace() => true,
        Some(_) => name > 0 && matches!(rest.get(name), Some(b'=' | b':' | b'"' | b'\'')),
    }
}

/// Tells whether a value can be the secret that its name promises.
pub(super) fn is_secret(value: &str, strength: Strength, category: &str) -> bool {
    let value = value.trim();
    if value.is_empty() || is_placeholder(value) || is_state(value) || is_reference(value) {
        return false;
    }
    if strength == Strength::NoPath && is_path(value) {
        return false;
    }
    let first = value.split(' ').next().unwrap_or_default();
    if category == "password" && SOURCES.contains(first) {
        return false;
    }
    let is_link = value.starts_with("http://") || value.starts_with("https://");
    let is_file = value.starts_with("file:") || value.starts_with("ssh-") || value.starts_with("ecdsa-");
    let elsewhere = is_file || is_file_path(value) || (is_link && category != "connection_string");
    if category != "password" && elsewhere {
        return false;
    }
    let number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match strength {
        Strength::Certain | Strength::NoPath if number => {
            value.len() >= if category == "token" { 6 } else { 3 }
        }
        Strength::Certain | Strength::NoPath => true,
        Strength::Likely => value.len() >= 5 && !number && mixed(value),
        Strength::Faint => is_random(value),
    }
}

/// Tells whether a value holds more than letters of one case.
fn mixed(value: &str) -> bool {
    let kinds: [fn(&u8) -> bool; 3] = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
    let kinds = kinds.iter().filter(|kind| value.bytes().any(|byte| kind(&byte))).count();
    kinds >= 2 || value.len() >= 16 || value.bytes().any(|byte| b"!@#$%^&*+=?".contains(&byte))
}

/// Tells whether a value reports the state of a secret, or hides it already.
fn is_state(value: &str) -> bool {
    let word = value
        .split_ascii_whitespace()
        .next()
        .unwrap_or_default()
        .trim_matches(|letter: char| ".,;:!()[]<>".contains(letter));
    let lower = word.to_ascii_lowercase();
    STATES.contains(lower.as_str())
        || value.chars().all(|letter| "*•.<>[](){}_-".contains(letter))
        || value.strip_prefix('<').is_some_and(is_blank_form)
}

/// Tells whether the rest of `<your password>` only asks for a value.
fn is_blank_form(rest: &str) -> bool {
    let words = rest.strip_suffix('>').unwrap_or(rest);
    !words.is_empty()
        && words.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_' || byte == b' ')
}

/// Tells whether a value only names the place of the secret: `$PASSWORD`, `${db.password}`, `{{ .Values.x }}`.
fn is_reference(value: &str) -> bool {
    let variable =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    value.strip_prefix('$').is_some_and(|name| name.starts_with(['{', '(']) || variable(name))
        || value.starts_with("{{")
        || value.starts_with("@Microsoft.KeyVault(")
        || (value.starts_with('%') && value.len() <= 2)
}

/// Tells whether a value is a place in a file system.
fn is_path(value: &str) -> bool {
    let bytes = value.as_bytes();
    let begins =
        matches!(bytes, [b'/', ..] | [b'~', b'/', ..] | [b'.', b'/', ..] | [b'.', b'.', b'/', ..] | [b'~'])
            || matches!(bytes, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    begins && value.chars().all(|letter| letter.is_alphanumeric() || "/._-~:\\ ".contains(letter))
}

/// Tells whether a value is the path of a file, and not a secret that begins with a slash.
fn is_file_path(value: &str) -> bool {
    let named = value.bytes().filter(|byte| *byte == b'/').count() >= 2 || !value.starts_with('/');
    is_path(value) && named && !is_random(value.trim_start_matches('/'))
}

/// Tells whether a value seems random: long, of mixed kinds, and neither an address, a date nor a digest.
pub(super) fn is_random(value: &str) -> bool {
    let odd = |byte: u8| !(byte.is_ascii_alphanumeric() || b"+/=_-~".contains(&byte));
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let hex = value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let begins_a_path = value.starts_with('/') && is_path(value);
    value.len() >= 16
        && !value.bytes().any(odd)
        && !hex
        && !begins_a_path
        && digits >= 1
        && letters >= 6
        && distinct(value) * 5 >= value.len().min(50)
        && distinct(value) >= 9
        && mixed(value)
}

/// Tells whether a value is no word that people write: a digit among letters, a mark, capitals inside.
pub(super) fn is_generated(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let marks = value.bytes().any(|byte| b"!@#$%^&*+=?~".contains(&byte));
    let inner = value.bytes().zip(value.bytes().skip(1));
    let capitals = inner.filter(|(one, next)| one.is_ascii_lowercase() && next.is_ascii_uppercase()).count();
    let number = letters == 0 && !marks;
    value.len() >= 4 && !number && (digits > 0 || marks || capitals > 1)
}

/// Counts the different bytes of a value.
fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    for byte in value.bytes() {
        if let Some(slot) = seen.get_mut(usize::from(byte)) {
            *slot = true;
        }
    }
    seen.iter().filter(|slot| **slot).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let value = value_at(text, 0, "password").unwrap();
        assert_eq!(&text[value.range], expected, "{text}");
    }

    #[test]
    fn a_quoted_value_ends_at_its_own_mark() {
        check(r#""a b" c"#, "a b");
        check(r#""a\"b" c"#, r#"a\"b"#);
        check(r#"\"a b\", c"#, "a b");
        check("'it''s' c", "it''s");
        check("\"cut off\nnext", "cut off");
    }

    #[test]
    fn punctuation_ends_a_value_only_before_something_else() {
        check("a,b c", "a,b");
        check("a, b", "a");
        check("a;user=x", "a");
        check("a&user=x", "a");
        check("a&b!", "a&b!");
        check("a\"}", "a");
        check("it's)x", "it's)x");
    }

    #[test]
    fn states_references_and_paths_are_no_secrets() {
        for value in ["", "expired", "null", "****", "<password>", "${X}", "$PASSWORD", "[redacted:token]"] {
            assert!(!is_secret(value, Strength::Certain, "password"), "{value}");
        }
        assert!(!is_secret("/home/ana", Strength::NoPath, "password"));
        assert!(!is_secret("/etc/ssl/private/web.key", Strength::Certain, "private_key"));
        assert!(is_secret("/home/ana", Strength::Certain, "password"));
    }

    #[test]
    fn digests_dates_and_words_are_not_random() {
        for value in [
            "2024-01-01T00:00:00Z",
            "9f86d081884c7d659a2feaa0c55ad015",
            "10.0.0.1",
            "standard-network-rule",
            "a1",
        ] {
            assert!(!is_random(value), "{value}");
        }
        assert!(is_random("Zm9vYmFyYmF6cXV4MTIz"));
    }
}
