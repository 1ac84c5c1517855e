//! Words, with their quotes.

use super::reader::{Reader, SyntaxError};
use crate::host::script::tree::{Word, WordPart};

/// What ends a part of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordEnd {
    /// The end of a word.
    Word,
    /// A closing quote.
    Quote,
    /// A closing brace.
    Brace,
    /// The end of the text: a here-document.
    End,
    /// A slash or a closing brace.
    Slash,
    /// A colon or a closing brace.
    Colon,
}

impl Reader {
    /// Reads a word; nothing where none begins here.
    pub(super) fn word(&mut self) -> Result<Option<Word>, SyntaxError> {
        self.blanks();
        let begun = self.at;
        let word = self.parts(WordEnd::Word)?;
        Ok((self.at > begun).then_some(word))
    }

    /// Reads the text of a here-document.
    pub(super) fn document(&mut self) -> Result<Word, SyntaxError> {
        self.parts(WordEnd::End)
    }

    pub(super) fn parts(&mut self, until: WordEnd) -> Result<Word, SyntaxError> {
        let mut word = Word::default();
        let mut text = String::new();
        let quoted = matches!(until, WordEnd::Quote | WordEnd::End);
        while let Some(char) = self.peek() {
            let ends = match until {
                WordEnd::Word => char.is_whitespace() || ";&|()<>".contains(char),
                WordEnd::Quote => char == '"',
                WordEnd::Brace => char == '}',
                WordEnd::Slash => char == '}' || char == '/',
                WordEnd::Colon => char == '}' || char == ':',
                WordEnd::End => false,
            };
            if ends {
                break;
            }
            match char {
                '\\' => {
                    self.next();
                    self.escaped(quoted, &mut text, &mut word);
                }
                '\'' if !quoted => {
                    self.next();
                    flush(&mut text, quoted, &mut word);
                    let inner = self.single()?;
                    word.parts.push(WordPart::Text(inner, true));
                }
                '"' if until != WordEnd::End => {
                    self.next();
                    flush(&mut text, quoted, &mut word);
                    let inner = self.parts(WordEnd::Quote)?;
                    if self.next() != Some('"') {
                        return self.error("unexpected EOF while looking for matching `\"'");
                    }
                    if inner.parts.is_empty() {
                        word.parts.push(WordPart::Text(String::new(), true));
                    }
                    word.parts.extend(inner.parts);
                }
                '$' if !quoted && self.ahead(1) == Some('\'') => {
                    self.at += 2;
                    flush(&mut text, quoted, &mut word);
                    let inner = self.single_with_escapes()?;
                    word.parts.push(WordPart::Text(inner, true));
                }
                '$' | '`' => {
                    flush(&mut text, quoted, &mut word);
                    match self.expansion(quoted)? {
                        Some(part) => word.parts.push(part),
                        None => text.push('$'),
                    }
                }
                _ => {
                    self.next();
                    text.push(char);
                }
            }
        }
        flush(&mut text, quoted, &mut word);
        Ok(word)
    }

    fn escaped(&mut self, quoted: bool, text: &mut String, word: &mut Word) {
        match self.next() {
            Some('\n') => {}
            Some(char) if quoted && !"$`\"\\".contains(char) => {
                text.push('\\');
                text.push(char);
            }
            Some(char) if quoted => text.push(char),
            Some(char) => {
                flush(text, quoted, word);
                word.parts.push(WordPart::Text(char.to_string(), true));
            }
            None => text.push('\\'),
        }
    }

    fn single(&mut self) -> Result<String, SyntaxError> {
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('\'') => return Ok(inner),
                Some(char) => inner.push(char),
                None => return self.error("unexpected EOF while looking for matching `''"),
            }
        }
    }

    fn single_with_escapes(&mut self) -> Result<String, SyntaxError> {
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('\'') => return Ok(inner),
                Some('\\') => match self.next() {
                    Some('n') => inner.push('\n'),
                    Some('t') => inner.push('\t'),
                    Some('r') => inner.push('\r'),
                    Some('e') => inner.push('\u{1b}'),
                    Some(char @ ('\\' | '\'' | '"')) => inner.push(char),
                    Some(char) => {
                        inner.push('\\');
                        inner.push(char);
                    }
                    None => return self.error("unexpected EOF while looking for matching `''"),
                },
                Some(char) => inner.push(char),
                None => return self.error("unexpected EOF while looking for matching `''"),
            }
        }
    }
}

fn flush(text: &mut String, quoted: bool, word: &mut Word) {
    if !text.is_empty() {
        word.parts.push(WordPart::Text(std::mem::take(text), quoted));
    }
}
