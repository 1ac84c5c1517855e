//! Hypotheses and their states.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the evidence says about a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum HypothesisState {
    /// It is being tested.
    Active,
    /// Evidence supports it.
    Confirmed,
    /// Evidence speaks against it.
    Refuted,
    /// It cannot be tested: denied, or not accessible.
    Unverifiable,
    /// Evidence speaks for and against it.
    Contradicted,
    /// It was taken off the board.
    Withdrawn,
}

impl HypothesisState {
    /// Returns the word that stands in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Confirmed => "CONFIRMED",
            Self::Refuted => "REFUTED",
            Self::Unverifiable => "UNVERIFIABLE",
            Self::Contradicted => "CONTRADICTED",
            Self::Withdrawn => "WITHDRAWN",
        }
    }
}

impl fmt::Display for HypothesisState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypothesis {
    pub id: String,
    pub description: String,
    pub state: HypothesisState,
    /// Why it has that state, where the code set it.
    pub why: Option<String>,
    /// How many of its commands were denied.
    pub denials: u32,
}
