//! A name, a sign and a value: `password=x`, `"password": "x"`, `--password x`, `api key: x`, YAML blocks.

use std::ops::Range;

use crate::redact::cloud::is_guid;
use crate::redact::name::{Meaning, Strength, cloud_id, meaning};
use crate::redact::reader::{PatternMatch, Reader, Rule, rule};
use crate::redact::span::{OPENING, Span};
use crate::redact::value::{Value, is_secret, value_at};

/// Every name that may mean something contains one of these.
pub(super) static RULES: [Rule; 1] = [rule!(
    stem,
    [
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "psk",
        "cred",
        "connstr",
        "string",
        "auth",
        "pw",
        "subscription",
        "tenant",
        "cak",
        "signature"
    ],
    r"(?i-u)pass|pwd|secret|token|key|psk|cred|connstr|string|auth|pw|subscription|tenant|cak|signature"
)];

/// Names longer than this are no names.
const MAX_NAME_LEN: usize = 128;

/// How much of a line around a token is read to tell what kind of token it is.
const MAX_CONTEXT_BYTES: usize = 300;

/// What stands between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=`, `:=`, `=>`, `%3D`.
    Equals,
    /// `:` with a space behind.
    Colon,
    /// `:` without one.
    Tight,
    /// Nothing but a space, behind an option.
    Space,
}

/// Hides the value behind the name around a stem.
fn stem(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    let text = reader.text;
    let name = whole_name(text, place.range(0), reader.next);
    reader.skip_to(name.end);
    if text.get(..name.start).is_some_and(|before| before.ends_with(OPENING)) {
        return;
    }
    if let Some((value, span)) = assigned(text, &name) {
        // A long value is not read again in search of names: that would take the square of its length.
        if span.is_some() || value.range.len() > MAX_NAME_LEN {
            reader.skip_to(value.range.end);
        }
        reader.found.extend(span);
    }
}

/// Widens a stem to the whole name around it.
fn whole_name(text: &str, stem: Range<usize>, free: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let before = bytes.get(free.max(stem.start.saturating_sub(MAX_NAME_LEN))..stem.start).unwrap_or_default();
    let after = bytes.get(stem.end..).unwrap_or_default();
    let start = stem.start - before.iter().rev().take_while(|byte| inside(byte)).count();
    let end = stem.end + after.iter().take(MAX_NAME_LEN).take_while(|byte| inside(byte)).count();
    start..end
}

/// Reads the value behind a name, and hides it where it is a secret.
fn assigned(text: &str, whole: &Range<usize>) -> Option<(Value, Option<Span>)> {
    let name = text.get(whole.clone())?;
    let dashes = name.bytes().take_while(|byte| *byte == b'-').count();
    let name = name.trim_start_matches(['-', '.']).trim_end_matches(['-', '.']);
    let start = whole.start + text.get(whole.clone())?.find(name)?;
    let end = start + name.len();
    let label = cloud_id(name);
    let (meaning, spoken_from) = spoken(text, start, name);
    if meaning.is_none() && label.is_none() {
        return None;
    }
    let (sign, from) = sign(text, end, dashes > 0).or_else(|| setting(text, start, end))?;
    // A user of a URL, whose password another rule finds; and the result of a test.
    let is_user = sign == Sign::Tight && text.get(..start).is_some_and(|before| before.ends_with("//"));
    if is_user || (name == "PASS" && matches!(sign, Sign::Colon | Sign::Tight)) {
        return None;
    }
    let category = meaning.map_or("", |meaning| meaning.category);
    if sign == Sign::Colon
        && let Some(range) = block(text, start, from)
    {
        let span = meaning.map(|meaning| Span::new(range.clone(), meaning.category));
        return Some((Value { range, quoted: false }, span));
    }
    let mut value = value_at(text, from, category)?;
    if let Some((category, _)) = label {
        let hides = text.get(value.range.clone()).is_some_and(is_guid);
        let span = hides.then(|| Span::new(value.range.clone(), category));
        return Some((value, span));
    }
    let meaning = meaning?;
    if category == "token" && is_connection(text, &value.range) {
        return Some((value, None));
    }
    let strength = demanded(text, spoken_from, &meaning, sign, &value);
    if sign == Sign::Colon && !value.quoted && matches!(category, "password" | "secret" | "shared_key") {
        value.range.end = phrase_end(text, start, &value.range);
    }
    let hides = text.get(value.range.clone()).is_some_and(|secret| is_secret(secret, strength, category));
    let span = hides.then(|| Span::new(value.range.clone(), category));
    Some((value, span))
}

/// Tells whether a token is the number of a connection of several paths, as `ss -ti` and `ip mptcp` print it.
fn is_connection(text: &str, value: &Range<usize>) -> bool {
    let digits = text.get(value.clone()).unwrap_or_default();
    let digits = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
    let behind = text.as_bytes().get(value.start + digits).copied().unwrap_or(b' ');
    if !(1..=8).contains(&digits) || !(behind.is_ascii_whitespace() || behind == b'(' || behind == b'/') {
        return false;
    }
    let from = text.floor_char_boundary(value.start.saturating_sub(MAX_CONTEXT_BYTES));
    let to = text.floor_char_boundary((value.end + MAX_CONTEXT_BYTES).min(text.len()));
    let before = text.get(from..value.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let after = text.get(value.end..to).unwrap_or_default().split('\n').next().unwrap_or_default();
    let marks = ["mptcp", "subflow", "(id:", "remote_key", "saddr4=", "saddr6=", "locid="];
    behind == b'(' || marks.iter().any(|mark| before.contains(mark) || after.contains(mark))
}

/// Reads a name, and where it is only the end of one (`api key`), the word before it too; returns where it begins.
fn spoken(text: &str, start: usize, name: &str) -> (Option<Meaning>, usize) {
    let meant = meaning(name);
    let certain = meant.is_some_and(|meant| meant.strength >= Strength::NoPath);
    let before = text.get(..start).and_then(|before| before.strip_suffix(' ')).filter(|_| !certain);
    let before = before.unwrap_or_default();
    let length =
        before.bytes().rev().take(24).take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count();
    let from = before.len() - length;
    let word = before.get(from..).unwrap_or_default();
    // In prose `primary key` is a column of a database: its value must look like a key.
    let both = meaning(&format!("{word} {name}")).filter(|both| both.strength >= Strength::Likely);
    if word.is_empty() || both.is_none() { (meant, start) } else { (both, from) }
}

/// Finds the sign behind a name, and where the value begins.
fn sign(text: &str, end: usize, option: bool) -> Option<(Sign, usize)> {
    let rest = text.get(end..)?;
    let closed = rest.trim_start_matches(['"', '\'', '\\', '`', ']', ')', '*']);
    // A closing mark belongs to the name, ten of them do not.
    let closed = if rest.len() - closed.len() > 8 { rest } else { closed };
    let spaced = skip_blank(closed);
    let (sign, behind) = if let Some(behind) = spaced.strip_prefix(":=").or_else(|| spaced.strip_prefix("=>"))
    {
        (Sign::Equals, behind)
    } else if let Some(behind) = spaced.strip_prefix("==").or_else(|| spaced.strip_prefix('=')) {
        (Sign::Equals, behind)
    } else if let Some(behind) = closed.strip_prefix("%3D").or_else(|| closed.strip_prefix("%3d")) {
        (Sign::Equals, behind)
    } else if let Some(behind) = closed.strip_prefix("%22%3A%22").or_else(|| closed.strip_prefix("%3A")) {
        (Sign::Equals, behind)
    } else if let Some(behind) = spaced.strip_prefix(':').filter(|behind| !behind.starts_with([':', '/'])) {
        (
            if behind.starts_with([' ', '\t', '\r', '\n', '"', '\\', '\'']) {
                Sign::Colon
            } else {
                Sign::Tight
            },
            behind,
        )
    } else if option && spaced.len() < closed.len() && !is_option(spaced) {
        (Sign::Space, spaced)
    } else {
        return None;
    };
    let value = skip_blank(behind);
    // `a= b`: the value is empty, and `b` is something else.
    let apart = sign == Sign::Equals && value.len() < behind.len() && spaced.len() == closed.len();
    let begins = text.len() - value.len();
    (!apart || !value.get(..40.min(value.len())).unwrap_or("=").contains('=')).then_some((sign, begins))
}

/// Finds the quoted value of a setting at the beginning of a line: `wpa-psk "x y"`.
fn setting(text: &str, start: usize, end: usize) -> Option<(Sign, usize)> {
    indent(text, start)?;
    let value = skip_blank(text.get(end..)?);
    let begins = text.len() - value.len();
    (begins > end && value.starts_with(['"', '\''])).then_some((Sign::Space, begins))
}

/// Skips spaces, tabs and the colors of a terminal.
fn skip_blank(text: &str) -> &str {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches([' ', '\t']);
        let colored = next.strip_prefix("\u{1b}[").and_then(|code| {
            let length = code.bytes().take(16).position(|byte| byte == b'm')?;
            code.get(length + 1..)
        });
        match colored {
            Some(behind) => rest = behind,
            None => return next,
        }
    }
}

/// Tells whether a word is the next option rather than a value.
fn is_option(text: &str) -> bool {
    let dashes = text.bytes().take_while(|byte| *byte == b'-').count();
    dashes > 0 && text.as_bytes().get(dashes).is_none_or(u8::is_ascii_alphabetic)
}

/// Says how sure a value must be, given how it was said.
fn demanded(text: &str, start: usize, meaning: &Meaning, sign: Sign, value: &Value) -> Strength {
    let strength = meaning.strength;
    if value.quoted || sign == Sign::Equals || sign == Sign::Space {
        return strength;
    }
    let prose = text.get(..start).is_some_and(|before| {
        let word = before.trim_end_matches(' ');
        word.len() < before.len() && word.ends_with(|letter: char| letter.is_alphabetic())
    });
    // `unexpected token: foo`, `login:password:uid`: plain words behind a colon are mostly speech.
    let doubtful = sign == Sign::Tight || (prose && !matches!(meaning.category, "password" | "private_key"));
    if doubtful { strength.min(Strength::Likely) } else { strength }
}

/// Finds the end of a pass phrase of several words: a YAML value reaches to the end of its line.
fn phrase_end(text: &str, start: usize, value: &Range<usize>) -> usize {
    let opens = indent(text, start).is_some();
    let rest = text.get(value.end..).unwrap_or_default();
    let rest = rest.get(..rest.floor_char_boundary(2 * MAX_NAME_LEN)).unwrap_or_default();
    let rest = rest.get(..rest.find(['\r', '\n']).unwrap_or(rest.len())).unwrap_or_default();
    let phrase = rest.get(..rest.find(" #").unwrap_or(rest.len())).unwrap_or_default();
    let speaks = phrase.contains([':', '=', '(', ')', '"', '{', '}', '[', ']', ',', ';', '|']);
    if opens && !speaks && phrase.len() <= MAX_NAME_LEN {
        value.end + phrase.trim_end().len()
    } else {
        value.end
    }
}

/// Measures the blanks and dashes between the beginning of a line and a name; `None` where something else stands there.
fn indent(text: &str, start: usize) -> Option<usize> {
    let before = text.as_bytes().get(..start)?;
    let blanks = before.iter().rev().take_while(|byte| b" \t-\"'".contains(byte)).take(MAX_NAME_LEN).count();
    let line = before.len() - blanks;
    (line == 0 || before.get(line - 1) == Some(&b'\n')).then_some(blanks)
}

/// Finds the lines of a YAML block scalar: `key: |` and everything that stands deeper.
fn block(text: &str, start: usize, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    // Only a short line is the head of a block.
    let head = rest.get(..rest.floor_char_boundary(16))?;
    let head = head.get(..head.find('\n')?)?.trim_end();
    let marks = head.strip_prefix(['|', '>'])?;
    if !marks.bytes().all(|byte| byte == b'-' || byte == b'+' || byte.is_ascii_digit()) {
        return None;
    }
    let indent = indent(text, start)?;
    let body = from + rest.find('\n')? + 1;
    let mut end = body;
    let mut begin = None;
    let mut at = body;
    for line in text.get(body..)?.split_inclusive('\n') {
        if !line.trim().is_empty() {
            let spaces = line.len() - line.trim_start_matches([' ', '\t']).len();
            if spaces <= indent {
                break;
            }
            begin = begin.or(Some(at + spaces));
            end = at + line.trim_end().len();
        }
        at += line.len();
    }
    let range = begin?..end;
    let already = text.get(range.clone()).is_some_and(crate::redact::span::is_placeholder);
    (!already).then_some(range)
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
    fn every_sign_assigns() {
        check("password=a1 x", &["a1"]);
        check("password = a1", &["a1"]);
        check("'password' => 'a b', 'x' => 1", &["a b"]);
        check("--db-password a1 --host x", &["a1"]);
        check("--db-password='a b' --host x", &["a b"]);
        check("config[\"password\"] = \"a b\"", &["a b"]);
        check("{\\\"password\\\": \\\"a b\\\", \\\"x\\\": 1}", &["a b"]);
        check("password%3Dhunter2%26user%3Dana", &["hunter2"]);
    }

    #[test]
    fn names_of_two_words_are_read_together() {
        check("API key: abc123def", &["abc123def"]);
        check("Connection string: Server=a;Pwd=b", &["Server=a;Pwd=b"]);
        check("private key: (hidden)", &[]);
        check("RSS hash key:\n6d:5a:56", &[]);
    }

    #[test]
    fn a_yaml_value_reaches_to_its_end() {
        check("password: correct horse battery # note\nuser: ana", &["correct horse battery"]);
        check("a:\n  secret: |\n    one\n    two\n  user: ana", &["one\n    two"]);
    }

    #[test]
    fn speech_is_not_an_assignment() {
        for text in [
            "unexpected token: foo",
            "password: authentication failed",
            "passwd: files systemd",
            "PWD=/home/ana",
            "tokens: 15625 ctokens: 15625",
            "--password --user x",
            "password= user=ana",
            "token_type=Bearer",
            "pam: password check failed",
            "ops ALL=(ALL) NOPASSWD: ALL",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn a_connection_string_keeps_what_follows() {
        check(
            "AZURE_CONNECTION_STRING=Server=a,1433;User ID=sa;Pwd=b c",
            &["Server=a,1433;User ID=sa;Pwd=b"],
        );
    }
}
