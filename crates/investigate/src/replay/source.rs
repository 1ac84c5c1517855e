//! What a replay takes beside the events.

use crate::tool::{Evidence, Registry};
use ghost_shell::Policy;

/// What deciding once more takes.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// By which commands are judged.
    pub policy: &'a Policy,
    /// What may be called.
    pub tools: &'a Registry,
    /// The texts behind observations.
    pub evidence: &'a dyn Evidence,
    /// What the operator added to the system prompt.
    pub site: Option<&'a str>,
    /// Whether words that only a model or a reader sees have to be the same.
    pub wording: Wording,
}

/// How the words of prompts and reports are compared; decisions are always compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// They are the same: this version wrote the record.
    Same,
    /// They may be others: another version wrote it, whose prompts and reports read differently.
    Free,
}
