//! What is wrong with a case file.

use std::fmt;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line of the file, from 1; nothing where it is about the whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl Problem {
    /// Makes one that is not at a line.
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line: None, what: what.into(), hint: hint.into() }
    }

    /// Puts it at a line.
    pub(super) fn at(mut self, line: Option<usize>) -> Self {
        self.line = self.line.or(line);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(out, "line {line}: ")?;
        }
        out.write_str(&self.what)
    }
}

/// Everything that is wrong, the first first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Says so where there is any.
    pub(super) fn none(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    /// Returns what to do about the first.
    #[must_use]
    pub fn hint(&self) -> &str {
        self.0.first().map_or("", |problem| &problem.hint)
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                out.write_str("\n  ")?;
            }
            problem.fmt(out)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
