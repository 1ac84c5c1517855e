//! A line, word by word.

use crate::name::ResourceGroup;
use ghost_shell::quote;

/// A command line of `az`, or of ssh to a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    words: Vec<String>,
    changes: bool,
}

impl Line {
    /// Begins a line that reads.
    pub(super) fn read(path: &str) -> Self {
        Self::begin(path, false)
    }

    /// Begins a line that changes something.
    pub(super) fn change(path: &str) -> Self {
        Self::begin(path, true)
    }

    /// Takes the words of a line that carries a script: of ssh, or of a shell.
    pub(crate) fn carrying(words: Vec<String>, changes: bool) -> Self {
        Self { words, changes }
    }

    fn begin(path: &str, changes: bool) -> Self {
        let words = std::iter::once("az").chain(path.split(' ')).map(str::to_owned).collect();
        Self { words, changes }
    }

    /// Adds an option and its value.
    pub(super) fn option(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.words.push(name.to_owned());
        self.words.push(value.as_ref().to_owned());
        self
    }

    /// Adds an option with several values.
    pub(super) fn options(mut self, name: &str, values: &[String]) -> Self {
        self.words.push(name.to_owned());
        self.words.extend(values.iter().cloned());
        self
    }

    /// Adds an option without a value.
    pub(super) fn flag(mut self, name: &str) -> Self {
        self.words.push(name.to_owned());
        self
    }

    /// Adds the resource group, and the subscription where it is pinned.
    pub(super) fn within(self, place: &ResourceGroup) -> Self {
        self.option("--resource-group", &place.group).pinned(place)
    }

    /// Adds the subscription where it is pinned.
    pub(super) fn pinned(self, place: &ResourceGroup) -> Self {
        match &place.subscription {
            Some(subscription) => self.option("--subscription", subscription),
            None => self,
        }
    }

    /// Ends a line whose answer is parsed.
    pub(super) fn json(self) -> Self {
        self.option("--output", "json")
    }

    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Tells whether it changes anything.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.changes
    }

    /// Returns the line as the shell reads it.
    #[must_use]
    pub fn text(&self) -> String {
        self.words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }
}
