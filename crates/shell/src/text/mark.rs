//! Small questions about characters and words that the reader asks.

/// Words that are no command but shape what stands around them.
const KEYWORDS: [&str; 20] = [
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case", "esac",
    "in", "function", "{", "}", "!", "[[", "coproc",
];

/// Tells whether an unquoted word in the place of a command is a keyword.
pub(super) fn is_keyword(word: &str) -> bool {
    // Keywords are short and mostly rare: the length and the first letter settle nearly every word.
    word.len() <= 8 && KEYWORDS.contains(&word)
}

/// What a keyword opens whose next words are no command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// `for x in a b` and `select`: up to the next separator.
    Loop,
    /// `case x in`: up to `in`.
    Case,
}

impl Header {
    /// Returns what a keyword opens.
    pub(super) fn of(keyword: &str) -> Option<Self> {
        match keyword {
            "for" | "select" => Some(Self::Loop),
            "case" => Some(Self::Case),
            _ => None,
        }
    }
}

/// Tells whether a text can be the name of a variable, `+` of `+=` included.
pub(super) fn is_name(text: &str) -> bool {
    let text = text.strip_suffix('+').unwrap_or(text);
    text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Tells whether a character behind `$` makes it a variable.
pub(super) fn starts_variable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')
}

/// Decodes the inside of `$'…'` as far as it spells ordinary characters.
pub(super) fn decode_ansi(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside.chars().peekable();
    while let Some(next) = rest.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        let Some(kind) = rest.next() else { break };
        let (radix, most, start) = match kind {
            'x' => (16, 2, None),
            'u' => (16, 4, None),
            'U' => (16, 8, None),
            '0'..='7' => (8, 2, kind.to_digit(8)),
            'n' | 'r' | 'f' | 'v' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            other => {
                out.push(other);
                continue;
            }
        };
        let mut value = start.unwrap_or(0);
        for _ in 0..most {
            let Some(digit) = rest.peek().and_then(|digit| digit.to_digit(radix)) else { break };
            value = value.saturating_mul(radix).saturating_add(digit);
            rest.next();
        }
        out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_spell_ordinary_characters() {
        assert_eq!(decode_ansi(r"\x72\155 \u0041\\\'"), "rm A\\'");
        assert_eq!(decode_ansi("\\"), "");
        assert_eq!(decode_ansi(r"\xzz"), "\0zz");
    }

    #[test]
    fn a_name_begins_with_a_letter() {
        assert!(is_name("PATH") && is_name("_x1") && is_name("x+"));
        assert!(!is_name("1x") && !is_name("") && !is_name("a-b"));
    }
}
