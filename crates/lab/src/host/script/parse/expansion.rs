//! `$x`, `${x:-y}`, `$( … )`, `$(( … ))` and backticks.

use super::reader::{Reader, SyntaxError, parse};
use super::word::WordEnd;
use crate::host::script::tree::{Change, Variable, Word, WordPart};

impl Reader {
    /// Reads what a dollar sign or a backtick begins; nothing where the dollar sign is only itself.
    pub(super) fn expansion(&mut self, quoted: bool) -> Result<Option<WordPart>, SyntaxError> {
        self.enter()?;
        let part = self.expand(quoted);
        self.leave();
        part
    }

    fn expand(&mut self, quoted: bool) -> Result<Option<WordPart>, SyntaxError> {
        if self.next() == Some('`') {
            return self.backticks(quoted).map(Some);
        }
        match self.peek() {
            Some('(') if self.ahead(1) == Some('(') => {
                self.at += 2;
                let mut inner = String::new();
                let mut open = 0_usize;
                loop {
                    match self.next() {
                        Some(')') if open == 0 && self.peek() == Some(')') => break,
                        Some(')') if open == 0 => {
                            return self.error("syntax error near unexpected token `)'");
                        }
                        Some(char) => {
                            match char {
                                '(' => open += 1,
                                ')' => open -= 1,
                                _ => {}
                            }
                            inner.push(char);
                        }
                        None => return self.end("))"),
                    }
                }
                self.next();
                let mut inner = self.inside(&inner);
                Ok(Some(WordPart::Number(inner.parts(WordEnd::End)?, quoted)))
            }
            Some('(') => {
                self.next();
                let list = self.list(&[])?;
                self.blanks();
                if self.next() != Some(')') {
                    return self.error("unexpected EOF while looking for matching `)'");
                }
                Ok(Some(WordPart::Output(list, quoted)))
            }
            Some('{') => {
                self.next();
                self.braced(quoted).map(Some)
            }
            Some(char) if char.is_ascii_alphabetic() || char == '_' => {
                let name = self.name();
                Ok(Some(variable(name, Change::None, quoted)))
            }
            Some(char) if char.is_ascii_digit() || "@*#?$!-".contains(char) => {
                self.next();
                Ok(Some(variable(char.to_string(), Change::None, quoted)))
            }
            _ => Ok(None),
        }
    }

    /// Makes a reader for a text inside.
    fn inside(&self, text: &str) -> Self {
        let mut inner = Self::new(text, self.line);
        inner.depth = self.depth;
        inner
    }

    fn backticks(&mut self, quoted: bool) -> Result<WordPart, SyntaxError> {
        let line = self.line;
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(char @ ('`' | '\\' | '$')) => inner.push(char),
                    Some('"') if quoted => inner.push('"'),
                    Some(char) => {
                        inner.push('\\');
                        inner.push(char);
                    }
                    None => {}
                },
                Some(char) => inner.push(char),
                None => return self.error("unexpected EOF while looking for matching ``'"),
            }
        }
        // A text inside cannot stand deeper than its own length allows: backticks in it are escaped.
        Ok(WordPart::Output(parse(&inner, line)?, quoted))
    }

    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(char) = self.peek().filter(|char| char.is_ascii_alphanumeric() || *char == '_') {
            self.at += 1;
            name.push(char);
        }
        name
    }

    fn braced(&mut self, quoted: bool) -> Result<WordPart, SyntaxError> {
        let length = self.peek() == Some('#') && self.ahead(1) != Some('}');
        if length {
            self.next();
        }
        let mut name = self.name();
        if name.is_empty() {
            name = self.next().filter(|char| "@*#?$!-".contains(*char)).map(String::from).unwrap_or_default();
        }
        if name.is_empty() {
            return self.error("bad substitution");
        }
        let change = if length { Change::Length } else { self.change(quoted)? };
        if self.next() != Some('}') {
            return if self.peek().is_none() {
                self.error("unexpected EOF while looking for matching `}'")
            } else {
                self.error(format!("${{{name}}}: bad substitution"))
            };
        }
        Ok(variable(name, change, quoted))
    }

    fn change(&mut self, quoted: bool) -> Result<Change, SyntaxError> {
        let colon = self.peek() == Some(':') && self.ahead(1).is_some_and(|char| "-=?+".contains(char));
        if colon {
            self.next();
        }
        let operand = |reader: &mut Self, until| -> Result<Word, SyntaxError> {
            let mut word = reader.parts(until)?;
            if quoted {
                for part in &mut word.parts {
                    if let WordPart::Text(_, quoted)
                    | WordPart::Variable(_, quoted)
                    | WordPart::Output(_, quoted) = part
                    {
                        *quoted = true;
                    }
                }
            }
            Ok(word)
        };
        Ok(match self.peek() {
            Some(char @ ('-' | '=' | '?' | '+')) => {
                self.next();
                Change::Instead(char, colon, operand(self, WordEnd::Brace)?)
            }
            Some(char @ ('#' | '%')) => {
                self.next();
                let longest = self.peek() == Some(char);
                if longest {
                    self.next();
                }
                Change::Cut { end: char == '%', longest, pattern: self.parts(WordEnd::Brace)? }
            }
            Some('/') => {
                self.next();
                let all = self.take("/");
                let pattern = self.parts(WordEnd::Slash)?;
                let with = if self.take("/") { operand(self, WordEnd::Brace)? } else { Word::default() };
                Change::Replace { all, pattern, with }
            }
            Some(':') => {
                self.next();
                let start = self.parts(WordEnd::Colon)?;
                let length = if self.take(":") { Some(self.parts(WordEnd::Brace)?) } else { None };
                Change::Part(start, length)
            }
            _ => Change::None,
        })
    }
}

fn variable(name: String, change: Change, quoted: bool) -> WordPart {
    WordPart::Variable(Variable { name, change }, quoted)
}
