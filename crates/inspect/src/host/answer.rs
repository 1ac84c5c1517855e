//! The three values of every question about a machine.

use serde::Serialize;

/// An answer about a machine. What was not read is never a no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// What would tell was not read, or does not decide.
    NotKnown(String),
}

impl Answer {
    /// Answers from what was read.
    #[must_use]
    pub const fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Tells whether it is certainly so.
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Tells whether it is certainly not so.
    #[must_use]
    pub const fn is_no(&self) -> bool {
        matches!(self, Self::No)
    }
}

/// A document of a machine: what was read, or why it was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<T> {
    /// What was read.
    Read(T),
    /// Why it was not.
    NotRead(String),
}

impl<T> Known<T> {
    /// Returns what was read.
    #[must_use]
    pub const fn read(&self) -> Option<&T> {
        match self {
            Self::Read(read) => Some(read),
            Self::NotRead(_) => None,
        }
    }

    /// Asks what was read.
    pub fn ask(&self, question: impl FnOnce(&T) -> bool) -> Answer {
        match self {
            Self::Read(read) => Answer::of(question(read)),
            Self::NotRead(why) => Answer::NotKnown(why.clone()),
        }
    }
}

impl<T> Known<Vec<T>> {
    /// Returns the rows that were read; none where nothing was.
    #[must_use]
    pub fn rows(&self) -> &[T] {
        match self {
            Self::Read(rows) => rows,
            Self::NotRead(_) => &[],
        }
    }
}
