//! Quotes, escapes and backticks.

use super::reader::{Mode, Reader};
use crate::text::script::Need;

impl Reader<'_> {
    pub(super) fn escape(&mut self) {
        match self.ahead(1) {
            None => {
                self.script.broken.get_or_insert("a backslash at the end");
                self.word().quoted = true;
                self.at += 1;
            }
            Some(b'\n') => {
                self.need(Need::Chain);
                self.at += 2;
            }
            // A carriage return ends a line, whatever stands before it.
            Some(b'\r') => self.at += 1,
            Some(_) => {
                self.at += 1;
                self.word().quoted = true;
                self.take();
            }
        }
    }

    pub(super) fn single(&mut self) {
        self.at += 1;
        let rest = self.rest();
        let end = rest.find('\'');
        if end.is_none() {
            self.script.broken.get_or_insert("a single quote");
        }
        let inside = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.quoted_text(inside);
        self.at += inside.len() + usize::from(end.is_some());
    }

    pub(super) fn quoted_text(&mut self, inside: &str) {
        if inside.bytes().any(|byte| matches!(byte, b'\n' | b'\r')) {
            self.script.quoted_line_end = true;
        }
        let word = self.word();
        word.quoted = true;
        word.text.push_str(inside);
    }

    pub(super) fn double(&mut self, next: u8) {
        match next {
            b'"' => {
                self.modes.pop();
                self.at += 1;
            }
            b'\\' => match self.ahead(1) {
                Some(b'$' | b'`' | b'"' | b'\\') => {
                    self.at += 1;
                    self.take();
                }
                Some(b'\n') => {
                    self.script.quoted_line_end = true;
                    self.at += 2;
                }
                _ => self.take(),
            },
            b'$' => self.dollar(true),
            b'`' => self.backtick(),
            b'\n' | b'\r' => {
                self.script.quoted_line_end = true;
                self.take();
            }
            _ => {
                let rest = self.rest();
                let end =
                    rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | b'$' | b'`' | b'\n' | b'\r'));
                let run = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.word().text.push_str(run);
                self.at += run.len().max(1);
            }
        }
    }

    pub(super) fn backtick(&mut self) {
        if self.jmespath && self.in_query() {
            self.word().backtick = true;
            self.take();
            return;
        }
        self.need(Need::Substitution);
        self.word();
        self.at += 1;
        let mut inside = String::new();
        let mut closed = false;
        let mut rest = self.rest().chars();
        let mut taken = 0;
        while let Some(next) = rest.next() {
            taken += next.len_utf8();
            match next {
                '`' => {
                    closed = true;
                    break;
                }
                '\\' => {
                    let escaped = rest.next();
                    taken += escaped.map_or(0, char::len_utf8);
                    if !matches!(escaped, Some('`' | '\\' | '$')) {
                        inside.push('\\');
                    }
                    inside.extend(escaped);
                }
                other => inside.push(other),
            }
        }
        self.at += taken;
        if !closed {
            self.script.broken.get_or_insert("a backtick");
        }
        self.script.inner.push(inside);
    }

    /// Tells whether the word at hand is the value of `--query` of a command that nothing surrounds.
    pub(super) fn in_query(&mut self) -> bool {
        if self.frames.len() > 1 || self.modes.contains(&Mode::Parameter) {
            return false;
        }
        let frame = self.frame();
        let behind = frame.command.words.last().is_some_and(|word| word.text == "--query");
        let attached = frame.word.as_ref().is_some_and(|word| word.text.starts_with("--query="));
        frame.target.is_none() && (behind || attached)
    }
}
