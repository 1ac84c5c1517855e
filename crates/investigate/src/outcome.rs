//! How an investigation ends.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The outcome of an investigation. It is computed and never claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// Findings hold against the evidence, and nothing contradicts them.
    Confirmed,
    /// Findings hold, and something is left that could tell otherwise.
    Likely,
    /// What was seen does not decide it.
    Inconclusive,
    /// Everything that could explain the symptom was checked and is clear.
    NoFaultFound,
}

impl Outcome {
    /// Returns the word of the contracts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "CONFIRMED",
            Self::Likely => "LIKELY",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::NoFaultFound => "NO_FAULT_FOUND",
        }
    }

    /// Returns how sure that is.
    #[must_use]
    pub fn confidence(self) -> Confidence {
        match self {
            Self::Confirmed | Self::NoFaultFound => Confidence::High,
            Self::Likely => Confidence::Medium,
            Self::Inconclusive => Confidence::Low,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// How sure an outcome is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Nothing is decided.
    Low,
    /// Some evidence supports it.
    Medium,
    /// The evidence supports it.
    High,
}

impl fmt::Display for Confidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}
