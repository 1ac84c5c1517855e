//! What cannot be seen is spelled out.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns a text that a terminal only prints, on one line: what nobody can see reads as `\u{1b}`.
#[must_use]
pub fn plain(text: &str) -> String {
    spell(text, |char, _| invisible(char))
}

/// Spells out every character that `hides` picks; it sees the character and what follows.
///
/// Backslashes in front of something spelled, or of something that resembles it, are doubled: an odd number of them spells,
/// an even number does not. All other backslashes stay as they are, so that commands stay readable.
pub(super) fn spell(text: &str, hides: impl Fn(char, &str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut slashes = 0;
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        if char == '\\' {
            slashes += 1;
            continue;
        }
        let hidden = hides(char, rest.as_str());
        let mistaken = char == 'u' && rest.as_str().starts_with('{');
        let written = if hidden || mistaken { slashes * 2 } else { slashes };
        out.extend(std::iter::repeat_n('\\', written));
        slashes = 0;
        if hidden {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
        } else {
            out.push(char);
        }
    }
    out.extend(std::iter::repeat_n('\\', slashes));
    out
}

/// Tells whether a character shows nothing, moves the cursor, or changes how others are drawn.
pub(super) fn invisible(char: char) -> bool {
    char.is_control()
        || (char.is_whitespace() && char != ' ')
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{10ffff}')
}

/// Returns as much of a plain text as fits into so many columns; where something is missing it ends in `…`.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let mut short: String = text
        .chars()
        .take_while(|char| {
            used += char.width().unwrap_or(0);
            used < columns
        })
        .collect();
    if columns > 0 {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::tests::unspell;

    #[test]
    fn what_a_terminal_would_obey_is_spelled() {
        assert_eq!(plain("a\u{1b}[2Jb\nc\u{202e}"), r"a\u{1b}[2Jb\u{a}c\u{202e}");
        assert_eq!(plain(r"grep 'a\|b' C:\dir"), r"grep 'a\|b' C:\dir");
        assert_eq!(plain(r"\u{1b}"), r"\\u{1b}");
        assert_eq!(plain("\\\u{1b}"), r"\\\u{1b}");
    }

    #[test]
    fn letters_of_any_script_stay() {
        for text in ["münchen", "日本", "ไทย", "cafe\u{301}", "✔ → …"] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 5), "abcd…");
        assert_eq!(fit("日本日本", 5), "日本…");
        assert_eq!(fit("abc", 0), "");
    }

    proptest! {
        #[test]
        fn what_was_spelled_can_be_read_back(text in r"([\\u{}1b\x1b\x00-\x20]|\PC){0,40}") {
            prop_assert_eq!(unspell(&plain(&text)), text);
        }

        #[test]
        fn nothing_is_wider_than_it_may_be(text in any::<String>(), columns in 0_usize..30) {
            prop_assert!(fit(&plain(&text), columns).width() <= columns);
        }
    }
}
