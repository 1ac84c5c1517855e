//! Names of things within one session.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Names an observation: `o1`, `o2` and so on, in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObservationId(pub u32);

/// Why a text names no observation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an observation is named o1, o2 and so on")]
pub struct ObservationIdError;

impl fmt::Display for ObservationId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "o{}", self.0)
    }
}

impl FromStr for ObservationId {
    type Err = ObservationIdError;

    fn from_str(text: &str) -> Result<Self, ObservationIdError> {
        let digits = text.strip_prefix('o').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(Self).ok_or(ObservationIdError)
    }
}

impl TryFrom<String> for ObservationId {
    type Error = ObservationIdError;

    fn try_from(text: String) -> Result<Self, ObservationIdError> {
        text.parse()
    }
}

impl From<ObservationId> for String {
    fn from(id: ObservationId) -> Self {
        id.to_string()
    }
}

/// Names a step, a command of a call: its number within the session, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub u32);

impl fmt::Display for StepId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "s{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_has_one_name() {
        assert_eq!("o12".parse(), Ok(ObservationId(12)));
        for text in ["", "o", "12", "O1", "o-1", "o+1", "o99999999999"] {
            assert_eq!(text.parse::<ObservationId>(), Err(ObservationIdError), "{text}");
        }
    }
}
