//! Escapes untrusted bytes as printable text.

/// How much of a name is kept: what is longer was made to be long.
pub(super) const MAX_NAME_LEN: usize = 80;

/// Returns bytes as text: what is none of the characters that names are made of is written as a number, what is too long ends in `…`.
///
/// So it ends no string in a filter, is no link and no mention in a thread, and moves no cursor.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut previous = 0;
    for byte in bytes {
        let before = text.len();
        let plain = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' | b':' | b'[' | b']' => true,
            b'/' => !matches!(previous, b':' | b'/'),
            _ => false,
        };
        if plain {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("\\{byte:03}"));
        }
        previous = *byte;
        if text.len() > MAX_NAME_LEN {
            text.truncate(before);
            text.push('…');
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_steers_neither_a_terminal_nor_a_filter_nor_a_report() {
        for name in ["web-1.example:8443", "[2001:db8::9]:80", "http/1.1", "_a.b"] {
            assert_eq!(escaped(name.as_bytes()), name);
        }
        assert_eq!(escaped(b"a\x1b[2J\"`\\ \xff"), "a\\027[2J\\034\\096\\092\\032\\255");
        assert_eq!(escaped(b"<!x>(http://a"), "\\060\\033x\\062\\040http:\\047\\047a");
    }

    #[test]
    fn a_long_name_is_clipped_and_never_within_a_number() {
        assert_eq!(escaped(&[b'x'; 80]), "x".repeat(80));
        assert_eq!(escaped(&[b'x'; 81]), format!("{}…", "x".repeat(80)));
        assert_eq!(escaped(&[0; 99]), format!("{}…", "\\000".repeat(20)));
    }
}
