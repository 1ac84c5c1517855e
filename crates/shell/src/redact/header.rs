//! The credential of an HTTP header: `Authorization`, `Cookie` and their kin, and a bare `Bearer` anywhere.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::name::Strength;
use crate::redact::reader::{PatternMatch, Reader, Rule, pattern, rule};
use crate::redact::span::{Span, is_placeholder};
use crate::redact::value::is_secret;

/// A word that names how to authenticate, and the spaces behind it.
static SCHEME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z][A-Za-z0-9_-]{1,24}[ \t]+"));

/// Credentials that need no header around them, and headers.
pub(super) static RULES: [Rule; 3] = [
    // Prose says `bearer` too: the word behind must hold a digit, or be long.
    rule!(
        "bearer",
        ["bearer"],
        r"(?i-u)\bbearer(?:[ \t]+|%20|\+)((?:[A-Za-z_~+/.-]*[0-9][A-Za-z0-9._~+/-]{4,}|[A-Za-z_~+/.-]{4,}[0-9][A-Za-z0-9._~+/-]*|[A-Za-z._~+/-]{16,})=*)"
    ),
    rule!(
        "basic",
        ["basic"],
        r"(?-u)\b[Bb]asic[ \t]+((?:[A-Za-z+/]*[0-9+/][A-Za-z0-9+/]{7,}|[A-Za-z0-9+/]{7,}[0-9+/][A-Za-z0-9+/]*)={0,2}|[A-Za-z0-9+/]{6,}={1,2})"
    ),
    // The name of a header that holds a credential, up to where its value begins.
    rule!(
        header,
        ["authorization", "cookie"],
        r#"(?i)(?:^|[^A-Za-z0-9_.-])((?:x-)?(?:proxy-|forwarded-|original-)?authorization|(?:set-)?cookie2?)\\{0,3}["']?[ \t]{0,8}(:|=>|=)[ \t]{0,8}"#
    ),
];

/// The longest header, twice what servers take.
const MAX_HEADER_BYTES: usize = 16_384;

/// Attributes of a cookie that are no secret.
const ATTRIBUTES: &[&str] = &[
    "path",
    "domain",
    "expires",
    "max-age",
    "httponly",
    "secure",
    "samesite",
    "partitioned",
    "priority",
    "version",
];

/// Hides the credentials of one header.
fn header(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    let (name, range) = (place.text(1), extent(reader.text, place.range(1), place.range(0).end));
    let end = range.end;
    // `cookie=` belongs to other protocols.
    if name.to_ascii_lowercase().ends_with("authorization") || place.text(2) != "=" {
        let found = credentials(name, reader.text, range);
        // What a header hides is not read again in search of headers.
        if !found.is_empty() {
            reader.skip_to(end);
        }
        reader.found.extend(found);
    }
}

/// Finds what the value of a header must not show.
pub(super) fn credentials(name: &str, text: &str, range: Range<usize>) -> Vec<Span> {
    let lower = name.to_ascii_lowercase();
    match lower.ends_with("authorization") {
        true => authorization(text, range).into_iter().collect(),
        false => cookies(text, range, lower.starts_with("set")),
    }
}

/// Finds where the value of a header ends.
fn extent(text: &str, name: Range<usize>, start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let before = text.get(..name.start).unwrap_or_default();
    let opening = rest.trim_start_matches('\\');
    // The mark around the value, else the one around the whole header.
    if let Some(mark) = opening.bytes().next().filter(|mark| matches!(mark, b'"' | b'\'')) {
        let skip = rest.len() - opening.len() + 1;
        let inside =
            until(opening.get(1..).unwrap_or_default(), mark, MAX_HEADER_BYTES).trim_end_matches('\\');
        return start + skip..start + skip + inside.len();
    }
    if let Some(mark) = before.bytes().next_back().filter(|mark| matches!(mark, b'"' | b'\'' | b'`')) {
        return start..start + until(rest, mark, MAX_HEADER_BYTES).trim_end_matches('\\').len();
    }
    let margin = before.bytes().rev().take(64).take_while(|byte| b"><*|- \t".contains(byte)).count();
    if before.len() == margin || before.as_bytes().get(before.len() - margin - 1) == Some(&b'\n') {
        return start..start + until(rest, b'\n', MAX_HEADER_BYTES).trim_end().len();
    }
    start..start + words_end(until(rest, b'\n', MAX_HEADER_BYTES / 16))
}

/// Returns a text up to a mark, or to the end of its line.
fn until(text: &str, mark: u8, most: usize) -> &str {
    let ends = |byte: &u8| *byte == mark || *byte == b'\n' || *byte == b'\r';
    let end = text.as_bytes().iter().take(most).position(ends).unwrap_or(most);
    text.get(..text.floor_char_boundary(end)).unwrap_or_default()
}

/// Finds where a value ends that stands in the middle of a line: behind its scheme and its `key=value` parts.
fn words_end(line: &str) -> usize {
    let scheme = SCHEME.find(line).map_or(0, |found| found.end());
    let mut end = scheme;
    for segment in line.get(scheme..).unwrap_or_default().split_inclusive([' ', '\t']) {
        let first = end == scheme;
        let part = segment.contains('=') && segment.trim_end().ends_with([',', ';']);
        let open = line.get(..end).is_some_and(|shown| shown.trim_end().ends_with([',', ';']));
        if !first && !part && !open {
            break;
        }
        end += segment.len();
    }
    let stops = |letter: char| letter.is_whitespace() || "\"'`,;)}]".contains(letter);
    let shown = line.get(..end).unwrap_or_default();
    if shown.trim_end().ends_with(']') { shown.trim_end().len() } else { shown.trim_end_matches(stops).len() }
}

/// Hides the credential behind the scheme of an `Authorization`.
fn authorization(text: &str, range: Range<usize>) -> Option<Span> {
    let value = text.get(range.clone())?;
    let scheme = SCHEME.find(value).map_or(0, |found| found.end());
    let credential = value.get(scheme..)?;
    let lower = value.get(..scheme)?.trim().to_ascii_lowercase();
    let category = match lower.as_str() {
        "bearer" => "bearer",
        "basic" => "basic",
        _ => "authorization",
    };
    let is_secret = |text| is_secret(text, Strength::Certain, "header");
    (is_secret(value) && is_secret(credential)).then(|| Span::new(range.start + scheme..range.end, category))
}

/// Hides the values of cookies; the attributes of a `Set-Cookie` stay.
fn cookies(text: &str, range: Range<usize>, sets: bool) -> Vec<Span> {
    let mut found = Vec::new();
    let mut start = range.start;
    for part in text.get(range).unwrap_or_default().split_inclusive(';') {
        if let Some((name, value)) = part.split_once('=') {
            let value_start = start + name.len() + 1;
            let value = value.trim_end_matches(';').trim_end();
            let attribute = sets && ATTRIBUTES.contains(&name.trim().to_ascii_lowercase().as_str());
            if !attribute && !value.is_empty() && !is_placeholder(value) {
                found.push(Span::new(value_start..value_start + value.len(), "cookie"));
            }
        }
        start += part.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::reader;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        reader::check(&RULES, text, expected);
    }

    #[test]
    fn a_header_on_its_own_line_is_hidden_behind_its_scheme() {
        check("> Authorization: Token abc\r\n> Host: x", &["abc"]);
        check("Authorization: abc", &["abc"]);
        check("Authorization: Digest username=\"a\", response=\"b\"", &["username=\"a\", response=\"b\""]);
    }

    #[test]
    fn a_header_in_a_command_ends_at_its_quotation_mark() {
        check("curl -H 'Authorization: Token abc' http://10.0.0.1", &["abc"]);
        check("got Authorization: Token abc from 10.0.0.1", &["abc"]);
    }

    #[test]
    fn a_cookie_keeps_its_name_and_its_attributes() {
        check("Set-Cookie: id=abc; Path=/; HttpOnly", &["abc"]);
        check("Cookie: a=b; c=d", &["b", "d"]);
    }

    #[test]
    fn cookies_of_other_protocols_stay() {
        check(" cookie=0x0, duration=5s, table=0", &[]);
        check("; COOKIE: 94f7b1e0c2a15d32 (good)", &[]);
        check("The bearer of authentication", &[]);
    }
}
