//! Base64 or hexadecimal digits that decode to a text with a secret in it: the whole run is hidden.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::reader::pattern;
use crate::redact::scan;
use crate::redact::span::Span;

/// A run of base64, of either alphabet.
static RUN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?-u)[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9_-]{16,}={0,2}"));

/// Finds runs of base64 that hold a secret.
pub(super) fn find(text: &str, depth: u32, found: &mut Vec<Span>) {
    for run in RUN.find_iter(text) {
        let Some(inside) = from_hex(run.as_str()).or_else(|| decode(run.as_str())) else { continue };
        let mut spans = Vec::new();
        scan::nested(&inside, depth, &mut spans);
        // An identifier is no reason to hide everything around it.
        if let Some(secret) = spans.iter().find(|span| !span.is_identifier()) {
            found.push(Span::new(run.range(), secret.category));
        }
    }
}

/// Decodes hexadecimal digits; `None` where no text comes out.
fn from_hex(run: &str) -> Option<String> {
    let digits = run.strip_prefix("0x").unwrap_or(run);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.as_bytes().chunks_exact(2) {
        let [high, low] = pair else { return None };
        let byte = char::from(*high).to_digit(16)? * 16 + char::from(*low).to_digit(16)?;
        bytes.push(
            u8::try_from(byte).ok().filter(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'))?,
        );
    }
    String::from_utf8(bytes).ok()
}

/// Decodes base64 with or without its padding; `None` where no text comes out.
fn decode(run: &str) -> Option<String> {
    let digits = run.trim_end_matches('=');
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for digit in digits.bytes() {
        held = (held << 6) | u32::from(value(digit)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            let byte = u8::try_from((held >> bits) & 0xff).ok()?;
            // The first byte that no text has ends the attempt: most runs are no base64 at all.
            if byte < b' ' && !matches!(byte, 0 | b'\t' | b'\n' | b'\r' | 0x1b) {
                return None;
            }
            bytes.push(byte);
            held &= (1 << bits) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns the value of a digit.
fn value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        find(text, 0, &mut found);
        let hidden: Vec<&str> = found.iter().map(|span| &text[span.range.clone()]).collect();
        assert_eq!(hidden, expected, "{text}");
    }

    #[test]
    fn what_decodes_to_a_secret_is_one() {
        // `password=hunter2 host=db`, and the same in UTF-16.
        check("x cGFzc3dvcmQ9aHVudGVyMiBob3N0PWRi y", &["cGFzc3dvcmQ9aHVudGVyMiBob3N0PWRi"]);
        check(
            "-enc cABhAHMAcwB3AG8AcgBkAD0AaAB1AG4AdABlAHIAMgA=",
            &["cABhAHMAcwB3AG8AcgBkAD0AaAB1AG4AdABlAHIAMgA="],
        );
    }

    #[test]
    fn hexadecimal_digits_that_spell_a_secret_are_one() {
        // `password=hunter2`.
        check("x 70617373776f72643d68756e74657232 y", &["70617373776f72643d68756e74657232"]);
        check("0x70617373776F72643D68756E74657232", &["0x70617373776F72643D68756E74657232"]);
        check("6a75737420612074657874206f66206c696e65", &[]);
    }

    #[test]
    fn other_base64_stays() {
        // `just a line of text without anything`.
        check("anVzdCBhIGxpbmUgb2YgdGV4dCB3aXRob3V0IGFueXRoaW5n", &[]);
        check("networkSecurityGroups/defaultSecurityRules", &[]);
        check("SHA256:abcdefGHIJKL0123456789mnopqrstuvwxyzABCDEFG", &[]);
    }
}
