//! What of a document must not reach a terminal.

/// Returns a text without what would steer a terminal: a document may be anybody's.
pub(super) fn harmless(text: &str) -> String {
    let steers = |char: char| {
        (char.is_control() && char != '\n')
            || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|char| if steers(char) { '\u{fffd}' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_does_not_steer_the_terminal() {
        assert_eq!(harmless("a\x1b[2Jb\u{202e}c\nd"), "a\u{fffd}[2Jb\u{fffd}c\nd");
    }
}
