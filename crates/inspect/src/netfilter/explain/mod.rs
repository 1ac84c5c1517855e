//! What rules do, in words that come from walking packets through them.
//!
//! Goes in: a ruleset or a host, or two of them. Comes out: who reaches what, what is refused and by which rule, rules that no
//! packet meets, redirections, jails, loggers; what a change does to traffic. Never: a guess; where there is too much to follow,
//! that is reported.

mod dead;
mod describe;
mod document;
mod follow;
mod notable;
mod outcome;
mod region;
#[cfg(test)]
mod tests;
mod text;
mod word;

pub use describe::{compare, explain, explain_change};
pub use document::{
    Changed, CompareError, Comparison, Dead, Differences, Explained, Explanation, HookOutcomes, Jail, Logger,
    OutcomeChange, Redirection, TrafficOutcome,
};
