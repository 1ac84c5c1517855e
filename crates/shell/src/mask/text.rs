//! Finds addresses in a text, and no text that only resembles one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Replaces the addresses of a text; the function sees each with its prefix length, if it has one.
///
/// Only addresses in their usual writing are touched, so that restoring gives the same bytes.
pub(super) fn map(text: &str, turn: impl Fn(IpAddr, Option<u8>) -> Option<IpAddr>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut shown = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let length = bytes.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| inside(byte)).count());
        if length == 0 {
            at += 1;
            continue;
        }
        let token = text.get(at..at + length).unwrap_or_default();
        if let Some((skip, token)) = bounded(text, at, token) {
            let at = at + skip;
            for (start, end, address) in addresses(token) {
                let (start, end) = (at + start, at + end);
                let prefix = prefix(bytes.get(end..).unwrap_or_default(), address);
                if let Some(turned) = turn(address, prefix) {
                    out.push_str(text.get(shown..start).unwrap_or_default());
                    out.push_str(&turned.to_string());
                    shown = end;
                }
            }
        }
        at += length;
    }
    out.push_str(text.get(shown..).unwrap_or_default());
    out
}

/// Tells whether a byte may belong to an address.
fn inside(byte: &u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':')
}

/// Takes from a run what belongs to a word before or behind it: the `c:` of `src:10.0.0.4`, all of `v10.0.0.4`.
///
/// Returns how much was taken in front, and the rest.
fn bounded<'a>(text: &str, start: usize, token: &'a str) -> Option<(usize, &'a str)> {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let behind = text.get(start + token.len()..).and_then(|behind| behind.chars().next());
    let skip = if before.is_some_and(word) { token.find(':')? + 1 } else { 0 };
    let rest = token.get(skip..)?;
    let keep = if behind.is_some_and(word) { rest.rfind(':')? } else { rest.len() };
    Some((skip, rest.get(..keep)?))
}

/// Reads the address of a run, or of its parts: `10.0.0.4:22`, `10.0.0.4.`, `from:10.0.0.4`.
fn addresses(token: &str) -> Vec<(usize, usize, IpAddr)> {
    // Punctuation is taken off mark by mark: the colons of `fd00::` belong to the address.
    let marks = |text: &str| text.len() - text.trim_end_matches(['.', ':']).len();
    for front in 0..=usize::from(token.starts_with([':', '.'])) {
        for back in 0..=marks(token).min(3) {
            let end = token.len() - back;
            if let Some(address) = token.get(front..end).and_then(v6) {
                return match address.to_ipv4_mapped() {
                    Some(inner) => vec![(end - inner.to_string().len(), end, IpAddr::V4(inner))],
                    None => vec![(front, end, IpAddr::V6(address))],
                };
            }
        }
    }
    // More colons are the bytes of something else.
    if token.bytes().filter(|byte| *byte == b':').count() > 4 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    for part in token.split(':') {
        let address = part.trim_end_matches('.');
        found.extend(v4(address).map(|parsed| (at, at + address.len(), IpAddr::V4(parsed))));
        at += part.len() + 1;
    }
    found
}

/// Reads an IPv4 address in its usual writing.
fn v4(text: &str) -> Option<Ipv4Addr> {
    text.parse::<Ipv4Addr>().ok().filter(|address| address.to_string() == text)
}

/// Reads an IPv6 address in its usual writing, without a zone.
fn v6(text: &str) -> Option<Ipv6Addr> {
    text.parse::<Ipv6Addr>().ok().filter(|address| address.to_string() == text)
}

/// Reads the prefix length behind an address; `None` where none stands there.
fn prefix(behind: &[u8], address: IpAddr) -> Option<u8> {
    let digits: Vec<u8> =
        behind.strip_prefix(b"/")?.iter().copied().take_while(u8::is_ascii_digit).take(4).collect();
    let length: u8 = std::str::from_utf8(&digits).ok()?.parse().ok()?;
    let widest = if address.is_ipv4() { 32 } else { 128 };
    (length <= widest).then_some(length)
}
