//! Lists, pipelines and simple commands.

use std::cell::OnceCell;
use std::rc::Rc;

use super::reader::{PendingHereDoc, Reader, SyntaxError};
use crate::host::script::tree::{
    Command, Item, Kind, Link, List, Pipeline, Redirect, RedirectKind, Word, WordPart,
};

/// Words that end a list where a command could begin.
const CLOSING: [&str; 7] = ["then", "elif", "else", "fi", "do", "done", "esac"];

impl Reader {
    /// Reads commands until one of these words, a closing bracket, or the end.
    pub(super) fn list(&mut self, until: &[&str]) -> Result<List, SyntaxError> {
        self.enter()?;
        let mut list = List::new();
        loop {
            self.newlines()?;
            match self.peek() {
                None | Some(')') => break,
                Some(';') if self.ahead(1) == Some(';') => break,
                Some(char @ (';' | '&' | '|')) => return Err(self.unexpected(char)),
                Some(_) => {}
            }
            if let Some(word) = self.keyword()
                && (until.contains(&word.as_str()) || CLOSING.contains(&word.as_str()) || word == "}")
            {
                break;
            }
            let mut item = self.item()?;
            self.blanks();
            match self.peek() {
                Some(';') if self.ahead(1) != Some(';') => {
                    self.next();
                }
                Some('&') => {
                    self.next();
                    item.background = true;
                }
                None | Some('\n' | ')' | ';') => {}
                Some(char) => return Err(self.unexpected(char)),
            }
            list.push(item);
        }
        self.leave();
        Ok(list)
    }

    /// Returns the bare word that comes next, without taking it.
    pub(super) fn keyword(&self) -> Option<String> {
        let rest = || self.text.iter().skip(self.at);
        let word: String =
            rest().take(12).take_while(|char| !char.is_whitespace() && !";&|()<>".contains(**char)).collect();
        (!word.is_empty()).then_some(word)
    }

    fn item(&mut self) -> Result<Item, SyntaxError> {
        let mut item = Item { first: self.pipeline()?, rest: Vec::new(), background: false };
        loop {
            self.blanks();
            let link = if self.take("&&") {
                Link::And
            } else if self.take("||") {
                Link::Or
            } else {
                return Ok(item);
            };
            self.newlines()?;
            item.rest.push((link, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, SyntaxError> {
        let mut negated = false;
        self.blanks();
        while self.peek() == Some('!') && self.ahead(1).is_none_or(char::is_whitespace) {
            self.next();
            self.blanks();
            negated = !negated;
        }
        let mut parts = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some('|') || self.ahead(1) == Some('|') {
                return Ok(Pipeline { negated, parts });
            }
            self.next();
            if self.take("&")
                && let Some(last) = parts.last_mut()
            {
                let both = Word { parts: vec![WordPart::Text("1".to_owned(), false)] };
                last.redirects.push(Redirect {
                    descriptor: Some(2),
                    kind: RedirectKind::Duplicate,
                    target: both,
                    document: None,
                });
            }
            self.newlines()?;
            parts.push(self.command()?);
        }
    }

    fn command(&mut self) -> Result<Command, SyntaxError> {
        self.blanks();
        let line = self.line;
        let kind = match self.compound()? {
            Some(kind) => kind,
            None => return self.simple(line),
        };
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(Command { kind, redirects, line })
    }

    fn simple(&mut self, line: usize) -> Result<Command, SyntaxError> {
        let (mut assigns, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            let Some(word) = self.word()? else { break };
            match assignment(&word) {
                Some(assign) if words.is_empty() => {
                    if self.peek() == Some('(') {
                        return self.error("arrays are not known here");
                    }
                    assigns.push(assign);
                }
                _ => words.push(word),
            }
            self.blanks();
            if words.len() == 1 && assigns.is_empty() && redirects.is_empty() && self.peek() == Some('(') {
                return self.function(&words, line);
            }
        }
        if words.is_empty() && assigns.is_empty() && redirects.is_empty() {
            return match self.peek() {
                Some(char) => Err(self.unexpected(char)),
                None => self.end("a command"),
            };
        }
        Ok(Command { kind: Kind::Simple { assigns, words }, redirects, line })
    }

    /// Reads `> file` and its relatives; nothing where none begins here.
    fn redirect(&mut self) -> Result<Option<Redirect>, SyntaxError> {
        self.blanks();
        let digits = self.text.iter().skip(self.at).take(4).take_while(|char| char.is_ascii_digit()).count();
        let both = digits == 0 && self.peek() == Some('&') && self.ahead(1) == Some('>');
        if !both && !matches!(self.ahead(digits), Some('<' | '>')) {
            return Ok(None);
        }
        let number: String = self.text.iter().skip(self.at).take(digits).collect();
        let descriptor = number.parse().ok();
        self.at += digits;
        if self.peek() == Some('<') && self.ahead(1) == Some('(')
            || self.peek() == Some('>') && self.ahead(1) == Some('(')
        {
            return self.error("process substitution is not known here");
        }
        if self.take("<<<") {
            let Some(mut word) = self.word()? else { return self.end("a text") };
            word.parts.push(WordPart::Text("\n".to_owned(), true));
            quote(&mut word);
            return Ok(Some(Redirect { descriptor, kind: RedirectKind::Text, target: word, document: None }));
        }
        if self.take("<<") {
            let strip = self.take("-");
            let mark = self.word()?.and_then(|word| word.literal());
            let Some((mark, literal)) = mark else {
                return self.error("syntax error near unexpected token `newline'");
            };
            // The text is put in once it was read.
            let place = Rc::new(OnceCell::new());
            self.awaited.push(PendingHereDoc { mark, literal, strip, place: place.clone() });
            let (kind, target) = (RedirectKind::Text, Word::default());
            return Ok(Some(Redirect { descriptor, kind, target, document: Some(place) }));
        }
        let Some(kind) = self.redirection() else { return Ok(None) };
        match self.word()? {
            Some(target) => Ok(Some(Redirect { descriptor, kind, target, document: None })),
            None => match self.peek() {
                Some(char) => Err(self.unexpected(char)),
                None => self.error("syntax error near unexpected token `newline'"),
            },
        }
    }
}

/// Everything in it counts as quoted.
fn quote(word: &mut Word) {
    for part in &mut word.parts {
        match part {
            WordPart::Text(_, quoted)
            | WordPart::Variable(_, quoted)
            | WordPart::Output(_, quoted)
            | WordPart::Number(_, quoted) => *quoted = true,
        }
    }
}

/// Reads `NAME=value`.
fn assignment(word: &Word) -> Option<(String, Word)> {
    let Some((WordPart::Text(first, false), rest)) = word.parts.split_first() else { return None };
    let (name, value) = first.split_once('=')?;
    let good = !name.is_empty()
        && !name.starts_with(|char: char| char.is_ascii_digit())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    if !good {
        return None;
    }
    let mut parts = Vec::new();
    if !value.is_empty() {
        parts.push(WordPart::Text(value.to_owned(), false));
    }
    parts.extend(rest.iter().cloned());
    Some((name.to_owned(), Word { parts }))
}
