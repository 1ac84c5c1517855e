//! Characters that a human cannot be expected to see or to tell from others.

use std::sync::LazyLock;

use regex::Regex;

/// Letters, their marks and decimal digits of any script may stand in an argument; everything else outside ASCII is odd,
/// and so is whatever is drawn as nothing at all.
static ODD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[[^\x00-\x7F]&&[^\p{L}\p{M}\p{Nd}]]|\p{Default_Ignorable_Code_Point}").ok()
});

/// Names the first kind of odd character in a text: the rule and the words for it.
pub(crate) fn oddity(text: &str) -> Option<(&'static str, &'static str)> {
    if text.bytes().any(|byte| (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f) {
        return Some(("text.control", "a control character"));
    }
    if text.is_ascii() {
        return None;
    }
    // Without the table of characters nothing outside ASCII is known to be harmless.
    let odd = ODD.as_ref().is_none_or(|odd| odd.is_match(text));
    odd.then_some(("text.odd", "an invisible or look-alike character, or a symbol outside ASCII"))
}

/// Tells whether one character is odd.
pub(super) fn is_odd(char: char) -> bool {
    let mut bytes = [0; 4];
    !char.is_ascii() && ODD.as_ref().is_none_or(|odd| odd.is_match(char.encode_utf8(&mut bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_digits_of_any_script_are_not_odd() {
        for text in
            ["ping café.example.com", "dig münchen.example", "日本", "ไทย", "tab\tline\n", "cafe\u{301}", "٣"]
        {
            assert_eq!(oddity(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_or_resembles_something_else_is_odd() {
        for text in [
            "a\u{200b}b",
            "a\u{202e}b",
            "a\u{a0}b",
            "a；b",
            "a｜b",
            "“a”",
            "a\u{ad}b",
            "\u{feff}a",
            "a\u{3164}",
            "a–b",
            "\u{2800}",
            "a\u{e0001}",
            "a\u{fe0f}",
            "①",
            "\u{85}",
        ] {
            assert!(oddity(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn control_characters_are_distinguished() {
        for text in ["\u{1b}[2J", "a\0", "\u{7}", "\u{7f}"] {
            assert_eq!(oddity(text).map(|(rule, _)| rule), Some("text.control"));
        }
    }
}
