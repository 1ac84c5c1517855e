//! `if`, `for`, `while`, `case`, groups and functions.

use super::reader::{Reader, SyntaxError};
use crate::host::script::tree::{Command, Kind, List, Redirect, Word};

impl Reader {
    /// Reads a command that has commands in it; nothing where none begins here.
    pub(super) fn compound(&mut self) -> Result<Option<Kind>, SyntaxError> {
        if self.peek() == Some('(') {
            if self.ahead(1) == Some('(') {
                return self.error("`((` is not known here");
            }
            self.next();
            let list = self.filled(&[])?;
            self.blanks();
            if self.next() != Some(')') {
                return self.end(")");
            }
            return Ok(Some(Kind::Subshell(list)));
        }
        let Some(word) = self.keyword() else { return Ok(None) };
        match word.as_str() {
            "if" | "for" | "while" | "until" | "case" | "{" | "[[" | "function" => {
                self.at += word.chars().count();
            }
            "then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}" => {
                return self.error(format!("syntax error near unexpected token `{word}'"));
            }
            "select" | "time" | "coproc" => return self.error(format!("`{word}` is not known here")),
            _ => return Ok(None),
        }
        self.enter()?;
        let kind = match word.as_str() {
            "if" => self.whether(),
            "for" => self.each(),
            "while" | "until" => self.again(word == "until"),
            "case" => self.which(),
            "[[" => self.test(),
            "function" => self.named(),
            _ => {
                let list = self.filled(&["}"]);
                list.and_then(|list| self.expect("}").map(|()| Kind::Group(list)))
            }
        };
        self.leave();
        kind.map(Some)
    }

    /// Reads a list that must hold something.
    fn filled(&mut self, until: &[&str]) -> Result<List, SyntaxError> {
        let list = self.list(until)?;
        if !list.is_empty() {
            return Ok(list);
        }
        match self.peek() {
            Some(char) => Err(self.unexpected(char)),
            None => self.end("a command"),
        }
    }

    fn expect(&mut self, wanted: &str) -> Result<(), SyntaxError> {
        self.newlines()?;
        match self.keyword() {
            Some(word) if word == wanted => {
                self.at += word.chars().count();
                Ok(())
            }
            _ => match self.peek() {
                Some(char) => Err(self.unexpected(char)),
                None => self.end(wanted),
            },
        }
    }

    fn whether(&mut self) -> Result<Kind, SyntaxError> {
        let mut arms = Vec::new();
        loop {
            let condition = self.filled(&["then"])?;
            self.expect("then")?;
            let body = self.filled(&["elif", "else", "fi"])?;
            arms.push((condition, body));
            match self.keyword().as_deref() {
                Some("elif") => self.at += 4,
                Some("else") => {
                    self.at += 4;
                    let otherwise = Some(self.filled(&["fi"])?);
                    self.expect("fi")?;
                    return Ok(Kind::If { arms, otherwise });
                }
                _ => {
                    self.expect("fi")?;
                    return Ok(Kind::If { arms, otherwise: None });
                }
            }
        }
    }

    fn body(&mut self) -> Result<List, SyntaxError> {
        self.expect("do")?;
        let body = self.filled(&["done"])?;
        self.expect("done")?;
        Ok(body)
    }

    fn each(&mut self) -> Result<Kind, SyntaxError> {
        self.blanks();
        let name = self.name();
        if name.is_empty() {
            return self.error("`for` without a name is not known here");
        }
        self.newlines()?;
        let words = if self.keyword().as_deref() == Some("in") {
            self.at += 2;
            let mut words = Vec::new();
            while let Some(word) = self.word()? {
                words.push(word);
            }
            Some(words)
        } else {
            None
        };
        self.blanks();
        if self.peek() == Some(';') {
            self.next();
        }
        Ok(Kind::For { name, words, body: self.body()? })
    }

    fn again(&mut self, until: bool) -> Result<Kind, SyntaxError> {
        let condition = self.filled(&["do"])?;
        Ok(Kind::While { until, condition, body: self.body()? })
    }

    fn which(&mut self) -> Result<Kind, SyntaxError> {
        let Some(word) = self.word()? else { return self.end("a word") };
        self.expect("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.keyword().as_deref() == Some("esac") {
                self.at += 4;
                return Ok(Kind::Case { word, arms });
            }
            self.take("(");
            let mut patterns = Vec::new();
            loop {
                let Some(pattern) = self.word()? else {
                    return match self.peek() {
                        Some(char) => Err(self.unexpected(char)),
                        None => self.end("esac"),
                    };
                };
                patterns.push(pattern);
                self.blanks();
                match self.next() {
                    Some('|') => {}
                    Some(')') => break,
                    Some(_) => {
                        self.at -= 1;
                        return match self.peek() {
                            Some(char) => Err(self.unexpected(char)),
                            None => self.end("esac"),
                        };
                    }
                    None => return self.end("esac"),
                }
            }
            let body = self.list(&["esac"])?;
            arms.push((patterns, body));
            self.newlines()?;
            if !self.take(";;") && self.keyword().as_deref() != Some("esac") {
                return match self.peek() {
                    Some(char) => Err(self.unexpected(char)),
                    None => self.end("esac"),
                };
            }
        }
    }

    fn test(&mut self) -> Result<Kind, SyntaxError> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            for operator in ["&&", "||", "(", ")", "<", ">"] {
                if self.take(operator) {
                    words.push(Word {
                        parts: vec![crate::host::script::tree::WordPart::Text(operator.to_owned(), false)],
                    });
                    break;
                }
            }
            match self.word()? {
                Some(word) if word.plain() == Some("]]") => return Ok(Kind::Test(words)),
                Some(word) => words.push(word),
                None if matches!(self.peek(), Some('&' | '|' | '(' | ')' | '<' | '>')) => {
                    if !["&&", "||", "(", ")", "<", ">"].iter().any(|operator| {
                        operator.chars().enumerate().all(|(at, wanted)| self.ahead(at) == Some(wanted))
                    }) {
                        return self.error("syntax error in conditional expression");
                    }
                }
                None => return self.error("syntax error in conditional expression"),
            }
        }
    }

    fn named(&mut self) -> Result<Kind, SyntaxError> {
        let Some(name) = self.word()?.and_then(|word| word.plain().map(str::to_owned)) else {
            return self.error("a function needs a name");
        };
        self.blanks();
        if self.take("(") {
            self.blanks();
            if !self.take(")") {
                return self.error("syntax error near unexpected token `('");
            }
        }
        self.body_of(name)
    }

    /// Reads the rest of `name() …`.
    pub(super) fn function(&mut self, words: &[Word], line: usize) -> Result<Command, SyntaxError> {
        self.next();
        self.blanks();
        let name = words.first().and_then(Word::plain);
        let (Some(name), Some(')')) = (name, self.peek()) else {
            return self.error("syntax error near unexpected token `('");
        };
        self.next();
        let kind = self.body_of(name.to_owned())?;
        Ok(Command { kind, redirects: Vec::<Redirect>::new(), line })
    }

    fn body_of(&mut self, name: String) -> Result<Kind, SyntaxError> {
        self.newlines()?;
        let line = self.line;
        match self.compound()? {
            Some(kind) => {
                Ok(Kind::Function { name, body: Box::new(Command { kind, redirects: Vec::new(), line }) })
            }
            None => match self.peek() {
                Some(char) => Err(self.unexpected(char)),
                None => self.end("a body"),
            },
        }
    }
}
