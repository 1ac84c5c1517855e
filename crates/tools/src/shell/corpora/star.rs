//! The part of Starlark that rule files are written in: calls with named arguments of texts and lists.

use std::iter::Peekable;
use std::str::Chars;

use anyhow::{Context as _, bail, ensure};

/// A list in a list in a list is deep already.
const MAX_DEPTH: usize = 8;

/// A call at the top level.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// What is called.
    pub name: String,
    /// The line that it begins on.
    pub line: usize,
    /// The arguments, in order.
    pub arguments: Vec<(String, Value)>,
}

/// What an argument can be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
}

/// Reads a file of calls.
pub(super) fn read(text: &str) -> anyhow::Result<Vec<Call>> {
    let mut reader = Reader { rest: text.chars().peekable(), line: 1 };
    let mut calls = Vec::new();
    loop {
        reader.blank();
        if reader.rest.peek().is_none() {
            return Ok(calls);
        }
        let line = reader.line;
        calls.push(reader.call().with_context(|| format!("line {line}"))?);
    }
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let char = self.rest.next()?;
        self.line += usize::from(char == '\n');
        Some(char)
    }

    /// Passes over blanks, line ends and comments.
    fn blank(&mut self) {
        while let Some(&char) = self.rest.peek() {
            if char == '#' {
                while self.rest.peek().is_some_and(|char| *char != '\n') {
                    self.next();
                }
            } else if char.is_whitespace() {
                self.next();
            } else {
                return;
            }
        }
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.blank();
        let found = self.rest.peek() == Some(&wanted);
        if found {
            self.next();
        }
        found
    }

    fn mark(&mut self, wanted: char) -> anyhow::Result<()> {
        ensure!(self.takes(wanted), "`{wanted}` is missing on line {}", self.line);
        Ok(())
    }

    fn name(&mut self) -> anyhow::Result<String> {
        self.blank();
        let mut name = String::new();
        while let Some(&char) = self.rest.peek().filter(|char| char.is_ascii_alphanumeric() || **char == '_')
        {
            name.push(char);
            self.next();
        }
        ensure!(!name.is_empty(), "a name is missing on line {}", self.line);
        Ok(name)
    }

    fn call(&mut self) -> anyhow::Result<Call> {
        let line = self.line;
        let name = self.name()?;
        self.mark('(')?;
        let mut arguments = Vec::new();
        while !self.takes(')') {
            let argument = self.name()?;
            self.mark('=')?;
            arguments.push((argument, self.value(0)?));
            if !self.takes(',') {
                self.mark(')')?;
                break;
            }
        }
        Ok(Call { name, line, arguments })
    }

    fn value(&mut self, depth: usize) -> anyhow::Result<Value> {
        ensure!(depth < MAX_DEPTH, "lists are too deep on line {}", self.line);
        if !self.takes('[') {
            return self.text().map(Value::Text);
        }
        let mut items = Vec::new();
        while !self.takes(']') {
            items.push(self.value(depth + 1)?);
            if !self.takes(',') {
                self.mark(']')?;
                break;
            }
        }
        Ok(Value::List(items))
    }

    fn text(&mut self) -> anyhow::Result<String> {
        self.blank();
        let Some(quote) = self.rest.next_if(|char| matches!(char, '"' | '\'')) else {
            bail!("line {} has something that is neither a text nor a list", self.line);
        };
        let mut long = false;
        if self.rest.next_if_eq(&quote).is_some() {
            if self.rest.next_if_eq(&quote).is_none() {
                return Ok(String::new());
            }
            long = true;
        }
        let mut text = String::new();
        loop {
            let char = self.next().with_context(|| format!("a text is not closed, line {}", self.line))?;
            if char == '\\' {
                text.push(self.escaped()?);
            } else if char != quote {
                ensure!(long || char != '\n', "a text is not closed, line {}", self.line - 1);
                text.push(char);
            } else if !long {
                return Ok(text);
            } else {
                text.push(char);
                if let Some(whole) = text.strip_suffix(&quote.to_string().repeat(3)) {
                    return Ok(whole.to_owned());
                }
            }
        }
    }

    fn escaped(&mut self) -> anyhow::Result<char> {
        match self.next() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some(char @ ('\\' | '"' | '\'')) => Ok(char),
            other => bail!("an escape on line {} is not known: {other:?}", self.line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_named_texts_and_lists() {
        let text = "# rules\nallow(\n  a = ['x', [\"y\\n\", 'it\\'s'],], # why\n  b = \"\"\"two\n\"lines\" \"\"\", c='')\n";
        let word = |text: &str| Value::Text(text.to_owned());
        let expected = Call {
            name: "allow".to_owned(),
            line: 2,
            arguments: vec![
                ("a".to_owned(), Value::List(vec![word("x"), Value::List(vec![word("y\n"), word("it's")])])),
                ("b".to_owned(), word("two\n\"lines\" ")),
                ("c".to_owned(), word("")),
            ],
        };
        assert_eq!(read(text).unwrap(), [expected]);
    }

    #[test]
    fn what_is_not_of_this_part_is_an_error_with_its_line() {
        for text in
            ["x = 1", "\n f(a = b)", "f(a = 'x)\n'", "f('x')", "f(a = '\\q')", "f(a=['x'", "f(a='''x''"]
        {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains("line "), "{text}: {error}");
        }
        assert!(read(&format!("f(a={})", "[".repeat(50))).is_err());
    }
}
