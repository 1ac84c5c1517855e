//! What is told about a verdict.

use serde::Serialize;

use super::gate::Field;
use super::rule::{Access, Direction, Gate};
use crate::net::Warning;

/// An answer, of a gate or of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The packet passes.
    Allow,
    /// The packet is dropped.
    Deny,
    /// Something unresolved would change the answer.
    Indeterminate,
    /// An earlier gate lets the packet through this one too.
    Skipped,
    /// No network security group stands at this gate.
    Absent,
}

impl Verdict {
    /// Returns the word of the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "ALLOW",
            Self::Deny => "DENY",
            Self::Indeterminate => "INDETERMINATE",
            Self::Skipped => "SKIPPED",
            Self::Absent => "ABSENT",
        }
    }
}

/// A rule that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The rule.
    pub rule: String,
    /// Its priority.
    pub priority: Option<u32>,
    /// What it does.
    pub access: Option<Access>,
    /// Whether it matched, and if not, which field failed.
    pub what: String,
}

/// What one gate says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateReport {
    /// The gate.
    pub gate: Gate,
    /// What it says.
    pub verdict: Verdict,
    /// The network security group.
    pub nsg: Option<String>,
    /// The rule that decides, where there is one.
    pub rule: Option<String>,
    /// Its priority.
    pub priority: Option<u32>,
    /// Every rule that may be the one that decides.
    pub candidates: Vec<String>,
    /// What an answer depends on.
    pub unresolved: Vec<String>,
    /// Every rule of the direction, until one certainly matches.
    pub trace: Vec<Tried>,
}

/// The rule that drops the packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decisive {
    /// The gate.
    pub gate: Gate,
    /// The network security group.
    pub nsg: Option<String>,
    /// The rule; none where no rule lets the packet through.
    pub rule: Option<String>,
    /// Its priority.
    pub priority: Option<u32>,
}

/// A rule that matches the packet and stands behind the one that decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Behind {
    /// The gate.
    pub gate: Gate,
    /// The rule.
    pub rule: String,
    /// Its priority.
    pub priority: Option<u32>,
    /// What it would have done.
    pub access: Option<Access>,
}

/// The answer to "does this packet get through?".
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ruling {
    /// The version of this format.
    pub format: u8,
    /// The way that the packet goes.
    pub direction: Direction,
    /// The answer.
    pub verdict: Verdict,
    /// Every gate, in the order in which the packet meets them.
    pub gates: Vec<GateReport>,
    /// The rule that drops the packet.
    pub decisive: Option<Decisive>,
    /// The items that could change the answer.
    pub unresolved: Vec<String>,
    /// Rules that match, but stand behind the one that decides.
    pub shadowed: Vec<Behind>,
    /// What could not be read.
    pub warnings: Vec<Warning>,
}

impl Field {
    /// Returns the field as words.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Direction => "direction",
            Self::Protocol => "protocol",
            Self::Source => "source",
            Self::Destination => "destination",
            Self::SourcePort => "source port",
            Self::DestinationPort => "destination port",
        }
    }
}
