//! Secrets inside URLs: the password before the `@`, and the signature of a shared-access signature.

use std::ops::Range;

use crate::redact::reader::{PatternMatch, Reader, Rule, rule};
use crate::redact::span::is_placeholder;
use crate::redact::value::is_random;

/// The longest user and password looked at.
const MAX_USERINFO_BYTES: usize = 1024;

/// Data source names without `//`, the signature itself, and what stands behind `//`.
pub(super) static RULES: [Rule; 6] = [
    rule!("url_userinfo", ["@"], r#"\b[A-Za-z0-9_.-]{1,64}:([^\s@"']{1,256})@(?:tcp|udp|unix)\("#),
    rule!("url_userinfo", ["jdbc:oracle:"], r#"jdbc:oracle:[a-z]+:[^/\s"']{1,64}/([^@\s"']{1,256})@"#),
    rule!(
        "sas",
        ["sig"],
        r#"(?i)(?:[?&;]|%26|%3F|u0026)sig(?:=|%3D)((?:[^\s"'<>&;,)\\\]}%\[]|%(?:2[0-57-9A-F]|3[0-9A-F]|[014-9A-F][0-9A-F]))+)"#
    ),
    rule!(
        "sas",
        ["sig="],
        r"(?i)(?:^|[\s\x22'`(])sig=([A-Za-z0-9+/%=_-]+)&(?:s[vetrpsi]|srt|spr|skn|sip|skoid)="
    ),
    rule!(
        "sas",
        ["sig="],
        r"(?:^|[\s\x22'`(])sig=([A-Za-z0-9+/]{8,}(?:[A-Za-z0-9+/]|%2B|%2F|%2b|%2f){8,}(?:%3[Dd]|=)+)"
    ),
    rule!(authority, ["//"], "//"),
];

/// Hides the password behind two slashes.
fn authority(reader: &mut Reader<'_>, slashes: &PatternMatch<'_>) {
    if let Some(range) = credential(reader.text, slashes.range(0).end) {
        reader.hide(range, "url_userinfo");
    }
}

/// Finds the password of the authority that begins at a place, or a user that is a token.
fn credential(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes().get(start..)?;
    let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'<>\\".contains(byte);
    let end =
        bytes.iter().take(MAX_USERINFO_BYTES).position(stops).unwrap_or(bytes.len().min(MAX_USERINFO_BYTES));
    let bytes = bytes.get(..end)?;
    let authority = bytes.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(end);
    // The last `@` of the authority; a password with a slash in it reaches to the first one behind.
    let at_sign = match bytes.get(..authority)?.iter().rposition(|byte| *byte == b'@') {
        Some(at) => at,
        None => authority + bytes.get(authority..)?.iter().position(|byte| *byte == b'@')?,
    };
    let userinfo = bytes.get(..at_sign)?;
    let colon = userinfo.iter().position(|byte| *byte == b':');
    let from = colon.map_or(0, |colon| colon + 1);
    let range = start + from..start + at_sign;
    let secret = text.get(range.clone())?;
    let hides = match colon {
        // A slash before the colon: the user is a host, and the colon is part of its path.
        Some(colon) if colon > authority => false,
        Some(_) => is_password(secret),
        None => at_sign < authority && is_random(secret),
    };
    hides.then_some(range)
}

/// Tells whether what stands between `:` and `@` is a password, and not a port with a path that holds an `@`.
fn is_password(text: &str) -> bool {
    let port = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_port = port > 0 && port <= 5 && matches!(text.as_bytes().get(port), Some(b'/' | b'?' | b'#'));
    !is_port && !text.is_empty() && !is_placeholder(text)
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
    fn a_password_may_hold_an_at_sign_and_a_slash() {
        check("redis://:p@ss@10.0.1.6/0", &["p@ss"]);
        check("amqp://app:a/b@10.0.1.6", &["a/b"]);
    }

    #[test]
    fn a_port_and_a_path_are_no_password() {
        check("http://10.0.0.1:8080/@scope/pkg", &[]);
        check("ssh://ops@10.0.0.1:22", &[]);
    }

    #[test]
    fn a_signature_is_found_at_every_place_of_the_query() {
        check("https://a/c?sig=abc&sv=1", &["abc"]);
        check("https://a/c?sv=1&sig=abc%3D next", &["abc%3D"]);
        check("u=https%3A%2F%2Fa%3Fsv%3D1%26sig%3Dabc%26se%3D2", &["abc"]);
        check("sig=abc&se=1&sv=2", &["abc"]);
        check("comm=\"x\" sig=11 res=1", &[]);
    }
}
