//! What was seen, and what is claimed of it.

use serde::{Deserialize, Serialize};

use crate::event::{ObservationId, StepId, text};
use ghost_base::Digest;

/// See [`Event::Observed`](crate::event::Event::Observed).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Its name.
    pub id: ObservationId,
    /// The call that it came from.
    pub call: String,
    /// The step, where it is the output of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The tool.
    pub tool: String,
    /// What was looked at, in a line.
    pub what: String,
    /// How much it weighs.
    pub source: Source,
    /// The digest under which the text lies.
    #[serde(with = "text")]
    pub digest: Digest,
    /// Its length.
    pub bytes: u64,
}

/// The words of a chore that reads a fetched capture.
#[derive(Deserialize)]
struct Captured {
    chore: String,
    file: String,
    bytes: u64,
}

impl Observed {
    /// Returns the file of packets that was read, and its size, where it is that: a chore, and no output of a command.
    #[must_use]
    pub fn captured(&self) -> Option<(String, u64)> {
        let read: Captured = serde_json::from_str(&self.what).ok().filter(|_| self.step.is_none())?;
        (read.chore == "verify").then_some((read.file, read.bytes))
    }
}

/// Where evidence comes from; a later one outweighs an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A probe from the host of the bot.
    LocalProbe,
    /// A probe inside the machine in question.
    GuestProbe,
    /// What the cloud was told to do.
    Configured,
    /// What the cloud does.
    Effective,
    /// Packets.
    Wire,
}

/// See [`Event::FindingAccepted`](crate::event::Event::FindingAccepted).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingAccepted {
    /// The claim.
    #[serde(flatten)]
    pub finding: Finding,
    /// What bears it out.
    pub why: String,
}

/// See [`Event::FindingRejected`](crate::event::Event::FindingRejected).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingRejected {
    /// The claim.
    #[serde(flatten)]
    pub finding: Finding,
    /// What is wrong with it.
    pub why: String,
}

/// A claim about the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The fault code.
    pub code: String,
    /// What is at fault.
    pub object: String,
    /// In words.
    pub statement: String,
    /// What shows it.
    pub evidence: Vec<Citation>,
}

/// A place in an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The observation.
    pub observation: ObservationId,
    /// Words that stand in it; may be absent where the code of the finding knows what to look for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}
