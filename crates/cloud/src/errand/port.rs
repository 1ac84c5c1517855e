//! What an errand is.

use super::answer::Answer;
use crate::line::Line;
use ghost_base::Timestamp;

/// Something that takes several commands.
pub trait Errand: Send {
    /// What comes of it.
    type Result;

    /// Says what is to be done next. It changes nothing, and asking twice is asking once.
    fn next(&self, now: Timestamp) -> Next<Self::Result>;

    /// Takes what came of the command that [`Errand::next`] said.
    fn heard(&mut self, answer: &Answer, now: Timestamp);
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next<T> {
    /// Run this.
    Run(Box<Order>),
    /// Ask again at this moment.
    Wait {
        /// When.
        until: Timestamp,
        /// What is waited for.
        why: String,
    },
    /// It is over.
    Over(T),
}

impl<T> Next<T> {
    /// Turns the result into another one.
    pub fn map<U>(self, over: impl FnOnce(T) -> U) -> Next<U> {
        match self {
            Self::Run(order) => Next::Run(order),
            Self::Wait { until, why } => Next::Wait { until, why },
            Self::Over(result) => Next::Over(over(result)),
        }
    }
}

/// One command of an errand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The command.
    pub what: Carried,
    /// Why; a human who is asked reads it.
    pub why: String,
    /// All commands that one consent covers, this one first; empty where it stands alone.
    pub plan: Vec<String>,
}

/// A command, or a declared script and what carries it to its guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// A command.
    Line(Line),
    /// A script of the policy.
    Script {
        /// The words before its text.
        carrier: Line,
        /// Its name.
        script: &'static str,
        /// What its variables are.
        variables: Vec<(&'static str, String)>,
    },
}

impl Order {
    /// Makes an order of one command.
    #[must_use]
    pub fn line(line: Line, why: impl Into<String>) -> Self {
        Self { what: Carried::Line(line), why: why.into(), plan: Vec::new() }
    }

    /// Makes an order of a declared script.
    #[must_use]
    pub fn script(
        carrier: Line,
        script: &'static str,
        variables: Vec<(&'static str, String)>,
        why: impl Into<String>,
    ) -> Self {
        Self { what: Carried::Script { carrier, script, variables }, why: why.into(), plan: Vec::new() }
    }

    /// Says that one consent covers these commands, this one among them.
    #[must_use]
    pub fn within(mut self, plan: Vec<String>) -> Self {
        self.plan = plan;
        self
    }
}
