//! The report of a difference.

use serde::Serialize;

use crate::netfilter::ruleset::Warning;

/// What differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// Whether anything does; absent where the status is inconclusive.
    pub drift: Option<bool>,
    /// The same in one word.
    pub status: Status,
    /// Whether the verdict on some packet can change.
    pub critical: bool,
    /// Every difference that was found.
    pub changes: Vec<Change>,
    /// What was odd in either text.
    pub warnings: Vec<Warning>,
}

/// Whether something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Nothing does, apart from what comes and goes by itself, and everything was read.
    Clean,
    /// Something does.
    Drift,
    /// Nothing does in what could be read, and something could not.
    Inconclusive,
}

impl Status {
    /// Puts together what was found and whether everything was read.
    #[must_use]
    pub fn of(changes: &[Change], complete: bool) -> Self {
        match (changes.iter().any(|change| !change.churn), complete) {
            (true, _) => Self::Drift,
            (false, true) => Self::Clean,
            (false, false) => Self::Inconclusive,
        }
    }

    /// Returns it as the answer to "does anything differ?".
    #[must_use]
    pub fn drift(self) -> Option<bool> {
        match self {
            Self::Clean => Some(false),
            Self::Drift => Some(true),
            Self::Inconclusive => None,
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What kind of change.
    pub kind: Kind,
    /// The table that differs, or holds what differs.
    pub table: String,
    /// The chain that differs, or holds what differs.
    pub chain: Option<String>,
    /// The rule as it is printed, where a rule differs.
    pub rule: Option<String>,
    /// How much it matters.
    pub severity: Severity,
    /// Whether it comes and goes by itself: it is reported, and is no drift.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub churn: bool,
    /// The change in words.
    pub detail: String,
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The policy of a chain.
    Policy,
    /// A rule came.
    RuleAdded,
    /// A rule went.
    RuleRemoved,
    /// A rule stands elsewhere in its chain.
    RuleMoved,
    /// A chain came.
    ChainAdded,
    /// A chain went.
    ChainRemoved,
    /// A table came.
    TableAdded,
    /// A table went.
    TableRemoved,
    /// A set or map came.
    SetAdded,
    /// A set or map went.
    SetRemoved,
    /// An element came.
    ElementAdded,
    /// An element went.
    ElementRemoved,
    /// Something else about a table, a chain or a set.
    ObjectChanged,
}

/// How much a change matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// No packet can notice, or it comes and goes by itself.
    Noise,
    /// It is there to be seen, and decides nothing.
    Notable,
    /// The verdict on some packet can change.
    Critical,
}

/// Why two rulesets cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// One is in the form of iptables, the other in that of nft.
    #[error("one is what iptables-save prints, the other what nft prints")]
    Formats,
    /// One is for IPv4, the other for IPv6.
    #[error("one is for IPv4, the other for IPv6")]
    Families,
}
