//! One thing that is wrong with a payload, and where.

use std::fmt;

/// How many problems are reported at most. A payload of a million mistakes is no better explained by all of them.
pub const MAX_PROBLEMS: usize = 100;

/// One thing that is wrong, and the JSON pointer of the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, as a JSON pointer from the arguments' top: `/blocks/0/text`.
    pub pointer: String,
    /// What, in Slack's words.
    pub message: String,
}

impl Problem {
    /// Returns the form without the level, as Slack gives it in `errors`.
    #[must_use]
    pub fn bare(&self) -> String {
        format!("{} [json-pointer:{}]", self.message, self.pointer)
    }
}

/// As in `response_metadata.messages`.
impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "[ERROR] {} [json-pointer:{}]", self.message, self.pointer)
    }
}
