//! Words of a rule, with the quotes that `iptables-save` writes.

use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether it stood in quotes: then it is no option, whatever its text.
    pub(super) quoted: bool,
}

/// Splits a line; the flag tells whether a quote was left open.
pub(super) fn split(line: &str) -> (Vec<Word<'_>>, bool) {
    if !line.contains(['"', '\'']) {
        let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        return (words.map(|word| Word { text: Cow::Borrowed(word), quoted: false }).collect(), false);
    }
    let mut words = Vec::new();
    let (mut text, mut quoted) = (String::new(), false);
    let mut inside = false;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (None, ' ' | '\t') => {
                if inside {
                    words.push(Word { text: Cow::Owned(std::mem::take(&mut text)), quoted });
                    (inside, quoted) = (false, false);
                }
            }
            (None, '"' | '\'') if !inside => {
                quote = Some(char);
                inside = true;
                quoted = true;
            }
            (Some(open), _) if open == char => quote = None,
            // In double quotes a backslash protects what follows it.
            (Some('"'), '\\') => text.extend(chars.next()),
            _ => {
                text.push(char);
                inside = true;
            }
        }
    }
    if inside {
        words.push(Word { text: Cow::Owned(text), quoted });
    }
    (words, quote.is_some())
}

/// Writes a word in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut word = String::with_capacity(text.len() + 2);
    word.push('"');
    for char in text.chars() {
        if matches!(char, '"' | '\\' | '\'') {
            word.push('\\');
        }
        word.push(char);
    }
    word.push('"');
    word
}
