//! Words of senders: what nobody can see goes, what is too long is cut.

use serde_json::Value;

/// Returns a text of at most so many characters, without control characters; line breaks stay.
pub(super) fn words(text: &str, max_chars: usize) -> String {
    let shown = text.trim().replace("\r\n", "\n");
    let kept = shown.chars().map(|char| match char {
        '\n' => '\n',
        char if char.is_control() || is_invisible(char) => ' ',
        char => char,
    });
    let mut kept: String = kept.take(max_chars + 1).collect();
    if kept.chars().count() > max_chars {
        kept.pop();
        kept = format!("{}…", kept.trim_end());
    }
    kept.trim().to_owned()
}

/// Returns a text on one line.
pub(super) fn line(text: &str, max_chars: usize) -> String {
    let text = words(text, max_chars);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Tells whether a character shows nothing, or turns the direction of those behind it.
fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a value as a short text, where it is one: what holds others is no label.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_can_see_goes_and_lines_stay() {
        assert_eq!(words(" a\u{0}b\r\nc\u{202e}d\u{7f} ", 20), "a b\nc d");
        assert_eq!(words("abcdef", 3), "abc…");
        assert_eq!(words("abc", 3), "abc");
        assert_eq!(line("a\n\n b", 20), "a b");
    }
}
