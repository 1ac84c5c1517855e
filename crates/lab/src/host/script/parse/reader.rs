//! The text under the parser.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::host::script::tree::{List, RedirectKind, Word, WordPart};

/// So deep commands may stand in commands.
const MAX_DEPTH: usize = 40;

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host::script) struct SyntaxError {
    pub(in crate::host::script) line: usize,
    pub(in crate::host::script) what: String,
}

/// A here-document whose lines are still to come.
pub(super) struct PendingHereDoc {
    pub(super) mark: String,
    pub(super) literal: bool,
    pub(super) strip: bool,
    pub(super) place: Rc<OnceCell<Word>>,
}

/// The text, and how far it was read.
pub(super) struct Reader {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    pub(super) line: usize,
    pub(super) depth: usize,
    pub(super) awaited: Vec<PendingHereDoc>,
}

/// Reads a script.
pub(in crate::host::script) fn parse(text: &str, line: usize) -> Result<List, SyntaxError> {
    let mut reader = Reader::new(text, line);
    let list = reader.list(&[])?;
    if let Some(found) = reader.peek() {
        return Err(reader.unexpected(found));
    }
    reader.end_documents()?;
    Ok(list)
}

impl Reader {
    pub(super) fn new(text: &str, line: usize) -> Self {
        let text = text.replace("\\\r\n", "").replace("\r\n", "\n").chars().collect();
        Self { text, at: 0, line, depth: 0, awaited: Vec::new() }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn ahead(&self, by: usize) -> Option<char> {
        self.text.get(self.at + by).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek();
        if next.is_some() {
            self.at += 1;
        }
        if next == Some('\n') {
            self.line += 1;
        }
        next
    }

    /// Takes these characters if they come next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(at, wanted)| self.ahead(at) == Some(wanted));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { line: self.line, what: what.into() })
    }

    pub(super) fn unexpected(&self, found: char) -> SyntaxError {
        let found = if found == '\n' { "newline".to_owned() } else { self.token() };
        SyntaxError { line: self.line, what: format!("syntax error near unexpected token `{found}'") }
    }

    /// Returns what stands here, for a message.
    fn token(&self) -> String {
        let rest = || self.text.iter().skip(self.at);
        let word: String =
            rest().take_while(|char| !char.is_whitespace() && !";&|()<>".contains(**char)).collect();
        if word.is_empty() {
            let first = self.peek();
            rest().take(2).take_while(|char| Some(**char) == first).collect()
        } else {
            word.chars().take(40).collect()
        }
    }

    pub(super) fn end<T>(&self, wanted: &str) -> Result<T, SyntaxError> {
        let _ = wanted;
        self.error("syntax error: unexpected end of file")
    }

    /// Goes one deeper.
    pub(super) fn enter(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.error("commands stand too deep in each other") } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Passes blanks, continued lines and, at the start of a word, a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.ahead(1) == Some('\n') => {
                    self.at += 2;
                    self.line += 1;
                }
                Some('#') => {
                    while self.peek().is_some_and(|char| char != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Passes a line end and the documents that begin behind it.
    pub(super) fn newline(&mut self) -> Result<(), SyntaxError> {
        self.next();
        for awaited in std::mem::take(&mut self.awaited) {
            let mut text = String::new();
            loop {
                if self.peek().is_none() {
                    // As in bash, the end of the text ends the document too.
                    break;
                }
                let mut line = String::new();
                while let Some(char) = self.next() {
                    line.push(char);
                    if char == '\n' {
                        break;
                    }
                }
                let bare = if awaited.strip { line.trim_start_matches('\t') } else { line.as_str() };
                if bare.strip_suffix('\n').unwrap_or(bare) == awaited.mark {
                    break;
                }
                text.push_str(bare);
            }
            let word = if awaited.literal {
                Word { parts: vec![WordPart::Text(text, true)] }
            } else {
                let mut inner = Self::new(&text, self.line);
                inner.depth = self.depth;
                inner.document()?
            };
            // A place is filled once.
            drop(awaited.place.set(word));
        }
        Ok(())
    }

    /// Passes line ends.
    pub(super) fn newlines(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.blanks();
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn end_documents(&mut self) -> Result<(), SyntaxError> {
        if self.awaited.is_empty() { Ok(()) } else { self.newline() }
    }

    /// Reads the name of a kind of redirection.
    pub(super) fn redirection(&mut self) -> Option<RedirectKind> {
        let kinds = [
            ("&>", RedirectKind::Both),
            (">>", RedirectKind::Append),
            (">&", RedirectKind::Duplicate),
            (">|", RedirectKind::Write),
            (">", RedirectKind::Write),
            ("<&", RedirectKind::Duplicate),
            ("<", RedirectKind::Read),
        ];
        kinds.into_iter().find(|(text, _)| self.take(text)).map(|(_, kind)| kind)
    }
}
