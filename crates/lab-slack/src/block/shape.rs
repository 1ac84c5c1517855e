//! The little language in which the schema is written: data, read by the walk.

use std::fmt;

use serde_json::{Map, Value};

use crate::block::walk::Walk;

/// What a value must be.
#[derive(Debug)]
pub(super) enum Rule {
    /// Anything at all.
    Any,
    /// True or false.
    Bool,
    /// A whole number between the two, both included.
    Int(i64, i64),
    Number,
    /// A string of so many characters, both included.
    Str(usize, usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text object in one of these formats, with at most so many characters.
    Text(&'static [&'static str], usize),
    /// A list of so many items, both included, each of them this.
    List(usize, usize, &'static Rule),
    Object(&'static Shape),
    /// An object whose `type` picks the shape.
    Typed(&'static [&'static [Kind]]),
    /// The same as another rule.
    Is(&'static Rule),
    OrNull(&'static Rule),
}

/// A value of `type` and the shape that goes with it.
#[derive(Debug)]
pub(super) struct Kind(pub(super) &'static str, pub(super) &'static Shape);

/// What an object consists of. `type` is not listed where it picks the shape.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) fields: &'static [Field],
    /// What no field says alone.
    pub(super) checks: &'static [Check],
}

/// Checks a whole object.
pub(super) type Check = fn(&Map<String, Value>, &mut Walk);

/// A member of an object.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) rule: Rule,
}

/// A member that must be there.
pub(super) const fn need(name: &'static str, rule: Rule) -> Field {
    Field { name, required: true, rule }
}

/// A member that may be there.
pub(super) const fn may(name: &'static str, rule: Rule) -> Field {
    Field { name, required: false, rule }
}

/// Every block may carry one.
pub(super) const BLOCK_ID: Field = may("block_id", Rule::Str(0, 255));

/// Every interactive element may carry one.
pub(super) const ACTION_ID: Field = may("action_id", Rule::Str(1, 255));

/// Nothing in the reference limits these.
pub(super) const NO_LIMIT: usize = usize::MAX;

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
