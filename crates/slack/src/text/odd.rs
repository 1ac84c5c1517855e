//! Characters that cannot be seen, or that change what is seen.

/// Tells whether a character has no business in a text that a human decides about.
fn is_odd(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        _ if char.is_control() => true,
        // Soft hyphen, marks of direction, embeddings and isolates, joiners and spaces without width, line separators.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' => true,
        '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        // Variation selectors, annotations, tags and private use.
        '\u{fe00}'..='\u{fe0e}'
        | '\u{fff9}'..='\u{fffc}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{e000}'..='\u{f8ff}' => true,
        '\u{f0000}'..='\u{10ffff}' => true,
        _ => false,
    }
}

/// Spells out what cannot be seen: a character of control or direction becomes its number, `\u{202e}` for instance. A carriage
/// return before a line end is dropped.
#[must_use]
pub fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.peek() == Some(&'\n') => {}
            char if is_odd(char) => out.extend(char.escape_unicode()),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        assert_eq!(spelled("rm\u{202e}txt"), "rm\\u{202e}txt");
        assert_eq!(spelled("a\u{1b}[31mb\u{0}\u{200b}\r\nc\td"), "a\\u{1b}[31mb\\u{0}\\u{200b}\nc\td");
        assert_eq!(spelled("ok\u{e0041}\u{feff}"), "ok\\u{e0041}\\u{feff}");
    }

    #[test]
    fn words_of_any_language_stay() {
        for text in ["Zürich – naïve", "東京", "مرحبا", "👍🏽", "emoji ❤\u{fe0f}"] {
            assert_eq!(spelled(text), text);
        }
    }
}
