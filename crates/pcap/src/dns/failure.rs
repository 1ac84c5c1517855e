//! Names that came to nothing.

use std::collections::BTreeMap;

use super::message::Message;

/// How many names are told apart.
const MOST: usize = 2048;
const EVIDENCE: usize = 5;

/// What came of a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure {
    /// How often.
    pub(crate) count: u64,
    /// The first answers that said so.
    pub(crate) frames: Vec<u64>,
    /// Names, with how often each.
    pub(crate) names: BTreeMap<String, u64>,
}

impl Failure {
    /// Takes an answer.
    pub(super) fn add(&mut self, message: &Message<'_>, frame: u64) {
        self.count += 1;
        if self.frames.len() < EVIDENCE {
            self.frames.push(frame);
        }
        let Some(question) = message.question else {
            return;
        };
        // Some resolvers mix the case to make answers hard to forge.
        let name = question.text().to_ascii_lowercase();
        if self.names.len() < MOST || self.names.contains_key(&name) {
            *self.names.entry(name).or_default() += 1;
        }
    }
}
