//! What a look comes to.

use serde_json::{Value, json};

use crate::suspect::{Layer, Looked, Suspect, once, plain};
use crate::tool::Move;
use ghost_cloud::operation::Issue;

/// What a look found.
#[derive(Debug, Clone, Default)]
pub(in crate::tool) struct Seen {
    /// Faults, the most important first.
    pub(in crate::tool) suspects: Vec<Suspect>,
    /// What was looked at, whole.
    pub(in crate::tool) looked: Vec<Looked>,
    /// Small plain facts: numbers, addresses, names of one word.
    pub(in crate::tool) facts: Value,
    /// What else a reader should know, in plain words.
    pub(in crate::tool) notes: Vec<String>,
    /// The document, in short lines; text of the outside.
    pub(in crate::tool) document: String,
}

impl Seen {
    /// Says that a layer of a subject was looked at, whole.
    pub(in crate::tool) fn looked(&mut self, layer: Layer, subject: &str) {
        let looked = Looked { layer, subject: plain(subject) };
        if !self.looked.contains(&looked) {
            self.looked.push(looked);
        }
    }

    /// Adds faults, each once.
    pub(in crate::tool) fn suspect(&mut self, more: Vec<Suspect>) {
        let all = std::mem::take(&mut self.suspects);
        self.suspects = once(all.into_iter().chain(more).collect());
    }

    /// Adds a line to the document.
    pub(in crate::tool) fn line(&mut self, line: &str) {
        self.document.push_str(line);
        self.document.push('\n');
    }

    /// Sets a fact.
    pub(in crate::tool) fn fact(&mut self, name: &str, value: impl Into<Value>) {
        if !self.facts.is_object() {
            self.facts = json!({});
        }
        if let Some(facts) = self.facts.as_object_mut() {
            facts.insert(name.to_owned(), value.into());
        }
    }
}

/// Why a look is not over.
#[derive(Debug)]
pub(in crate::tool) enum Halt {
    /// Something has to be done first.
    Move(Box<Move>),
    /// It came to nothing.
    Issue(Issue),
}

impl From<Box<Move>> for Halt {
    fn from(next: Box<Move>) -> Self {
        Self::Move(next)
    }
}

impl From<Issue> for Halt {
    fn from(trouble: Issue) -> Self {
        Self::Issue(trouble)
    }
}
