//! Words of a rule, with the quotes that `iptables-save` writes.

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it stood in quotes: then it is no option, whatever it looks like.
    pub(super) quoted: bool,
}

/// Splits a line; the flag tells whether a quote was left open.
pub(super) fn split(line: &str) -> (Vec<Word>, bool) {
    let mut words = Vec::new();
    let mut word = Word { text: String::new(), quoted: false };
    let mut inside = false;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (None, ' ' | '\t') => {
                if inside {
                    words.push(std::mem::replace(&mut word, Word { text: String::new(), quoted: false }));
                    inside = false;
                }
            }
            (None, '"' | '\'') if !inside => {
                quote = Some(char);
                inside = true;
                word.quoted = true;
            }
            (Some(open), _) if open == char => quote = None,
            // In double quotes a backslash protects what follows it.
            (Some('"'), '\\') => word.text.extend(chars.next()),
            _ => {
                word.text.push(char);
                inside = true;
            }
        }
    }
    if inside {
        words.push(word);
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
