//! Observations, and the claims about them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::text;
use crate::finding::FaultCode;
use crate::tool::FileTask;
use ghost_base::Digest;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    pub id: ObservationId,
    /// The call that it came from.
    pub call: String,
    /// The step, where it is the output of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    pub tool: String,
    /// What was read, in a line.
    pub what: String,
    pub source: EvidenceSource,
    /// The digest under which the text lies.
    #[serde(with = "text")]
    pub digest: Digest,
    pub bytes: u64,
}

impl Observed {
    /// Returns the file of packets and its size, where a file task read one.
    #[must_use]
    pub fn captured(&self) -> Option<(String, u64)> {
        match serde_json::from_str(&self.what) {
            Ok(FileTask::Verify { file, bytes }) if self.step.is_none() => Some((file, bytes)),
            Ok(_) | Err(_) => None,
        }
    }
}

/// Where evidence comes from; a later one outweighs an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
    /// A probe from the host of the bot.
    LocalProbe,
    /// A probe inside the machine in question.
    GuestProbe,
    /// What is configured in the cloud.
    Configured,
    /// What the cloud does.
    Effective,
    /// Packets.
    Wire,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingAccepted {
    #[serde(flatten)]
    pub finding: Finding,
    /// What supports it.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingRejected {
    #[serde(flatten)]
    pub finding: Finding,
    pub why: String,
}

/// A claim about the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub code: FaultCode,
    pub object: String,
    pub statement: String,
    /// What shows it.
    pub evidence: Vec<Citation>,
}

/// A place in an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    pub observation: ObservationId,
    /// Words that stand in it; may be absent where the code of the finding knows what to look for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

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
