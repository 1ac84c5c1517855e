//! The board: what is supposed, and what is held of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is held of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum HypothesisState {
    /// It is being tested.
    Active,
    /// Evidence bears it out.
    Confirmed,
    /// Evidence speaks against it.
    Refuted,
    /// It cannot be tested: denied, or out of reach.
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

/// One hypothesis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypothesis {
    /// Its name.
    pub id: String,
    /// What is supposed.
    pub description: String,
    /// What is held of it.
    pub state: HypothesisState,
    /// Why it has that state, where the code set it.
    pub why: Option<String>,
    /// How many of its commands were denied.
    pub denials: u32,
}
