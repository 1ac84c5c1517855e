//! Puts values in the place of variables, commands and sums.

use super::shell::{Flow, Io, Shell, Target};
use crate::host::script::arithmetic::work_out;
use crate::host::script::pattern::escape;
use crate::host::script::tree::{List, Word, WordPart};

/// A part of a word with its value.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) quoted: bool,
    /// It stood in the script as it is: it is not split.
    pub(super) own: bool,
    /// A new word begins here: `"$@"`.
    pub(super) begins: bool,
    /// `"$@"` without anything in it.
    pub(super) nothing: bool,
}

impl Shell<'_> {
    /// Returns the one text that a word stands for.
    pub(in crate::host::script) fn text(&mut self, word: &Word, io: &Io) -> Result<String, Flow> {
        let mut text = String::new();
        for (at, part) in self.parts(word, io)?.into_iter().enumerate() {
            if part.begins && at > 0 {
                text.push(' ');
            }
            text.push_str(&part.text);
        }
        if let Some(rest) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))
            && word.parts.first().is_some_and(|word_part| matches!(word_part, WordPart::Text(_, false)))
        {
            return Ok(format!("{}{rest}", self.value("HOME").unwrap_or_default()));
        }
        Ok(text)
    }

    /// Returns the pattern that a word stands for: what is quoted is itself.
    pub(super) fn pattern(&mut self, word: &Word, io: &Io) -> Result<String, Flow> {
        let parts = self.parts(word, io)?;
        Ok(parts.into_iter().map(|part| if part.quoted { escape(&part.text) } else { part.text }).collect())
    }

    pub(super) fn parts(&mut self, word: &Word, io: &Io) -> Result<Vec<Part>, Flow> {
        let mut parts = Vec::new();
        let part = |text, quoted, own| Part { text, quoted, own, begins: false, nothing: false };
        for word_part in &word.parts {
            let before = parts.len();
            match word_part {
                WordPart::Text(text, quoted) => parts.push(part(text.clone(), *quoted, true)),
                WordPart::Variable(variable, quoted) => self.variable(variable, *quoted, io, &mut parts)?,
                WordPart::Output(list, quoted) => {
                    let output = self.output(list, io)?;
                    parts.push(part(output, *quoted, false));
                }
                WordPart::Number(word, quoted) => {
                    let text = self.text(word, io)?;
                    let number = self.number(&text, io)?;
                    parts.push(part(number.to_string(), *quoted, false));
                }
            }
            let bytes = parts.iter().skip(before).map(|part| part.text.len()).sum();
            self.spend(bytes)?;
        }
        Ok(parts)
    }

    /// Works out a sum.
    pub(super) fn number(&mut self, text: &str, io: &Io) -> Result<i64, Flow> {
        // `x=1`, `x+=1`, `x++` are what sums are used for beside their value.
        let value = |name: &str| self.value(name).unwrap_or_default();
        let changed = assigned(text);
        let sum = match &changed {
            Some((name, Some(operator), rest)) => format!("{name} {operator} ({rest})"),
            Some((_, None, rest)) => rest.clone(),
            None => text.to_owned(),
        };
        match work_out(if sum.trim().is_empty() { "0" } else { &sum }, &value) {
            Ok(number) => {
                if let Some((name, ..)) = changed {
                    self.variables.insert(name, number.to_string());
                }
                Ok(number)
            }
            Err(what) => {
                self.status = self.protest(io, &what, 1);
                Err(Flow::Exit)
            }
        }
    }

    /// Runs commands and returns what they print, without line ends behind it.
    fn output(&mut self, list: &List, io: &Io) -> Result<String, Flow> {
        self.deeper()?;
        let buffer = self.open();
        let mut own = io.clone();
        own.targets.insert(1, Target::Buffer(buffer));
        let flow = self.apart(|shell| shell.list(list, &own));
        self.shallower();
        self.substituted = true;
        let bytes = self.close(buffer);
        if flow == Flow::Killed {
            return Err(flow);
        }
        let text = String::from_utf8_lossy(&bytes).replace('\0', "");
        Ok(text.trim_end_matches('\n').to_owned())
    }
}

/// Reads `x = 1`, `x += 1`, `x++`: the name, the operator, and the rest.
fn assigned(text: &str) -> Option<(String, Option<String>, String)> {
    let text = text.trim();
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = text.split_at_checked(length)?;
    if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start();
    for operator in ["+", "-", "*", "/", "%"] {
        if let Some(rest) = rest.strip_prefix(operator).and_then(|rest| rest.strip_prefix('=')) {
            return Some((name.to_owned(), Some(operator.to_owned()), rest.to_owned()));
        }
    }
    if rest == "++" || rest == "--" {
        return Some((name.to_owned(), rest.get(..1).map(str::to_owned), "1".to_owned()));
    }
    let value = rest.strip_prefix('=').filter(|value| !value.starts_with('='))?;
    Some((name.to_owned(), None, value.to_owned()))
}
