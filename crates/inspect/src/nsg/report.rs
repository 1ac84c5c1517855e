//! The report of a verdict.

use std::borrow::Cow;

use serde::Serialize;

use super::rule::{Access, Direction, Gate};
use super::trace::Trace;
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

/// What one gate says.
#[derive(Debug, Clone, Serialize)]
pub struct GateReport<'a> {
    /// Where the group stands: at the subnet, the interface or the network manager.
    pub gate: Gate,
    /// What it says.
    pub verdict: Verdict,
    /// The network security group.
    pub nsg: Option<&'a str>,
    /// The rule that decides, where there is one.
    pub rule: Option<&'a str>,
    /// The priority; the lowest number is tried first.
    pub priority: Option<u32>,
    /// Every rule that may be the one that decides.
    pub candidates: Vec<&'a str>,
    /// What an answer depends on.
    pub unresolved: Vec<String>,
    /// Every rule of the direction, until one certainly matches.
    pub trace: Trace<'a>,
}

impl GateReport<'_> {
    /// Takes back what the gate says, where the packet passes whatever that is.
    pub(super) fn skip(&mut self) {
        if !matches!(self.gate, Gate::Manager) && self.verdict != Verdict::Absent {
            (self.verdict, self.rule, self.priority) = (Verdict::Skipped, None, None);
            (self.candidates, self.unresolved) = (Vec::new(), Vec::new());
        }
    }
}

/// The rule that drops the packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decisive<'a> {
    /// Where the group stands: at the subnet, the interface or the network manager.
    pub gate: Gate,
    /// The network security group.
    pub nsg: Option<&'a str>,
    /// The rule; none where no rule lets the packet through.
    pub rule: Option<&'a str>,
    /// The priority; the lowest number is tried first.
    pub priority: Option<u32>,
}

/// A rule that matches the packet and stands behind the one that decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LaterMatch<'a> {
    /// Where the group stands: at the subnet, the interface or the network manager.
    pub gate: Gate,
    /// The name of the rule in its group.
    pub rule: &'a str,
    /// The priority; the lowest number is tried first.
    pub priority: Option<u32>,
    /// What it would have done.
    pub access: Option<Access>,
}

/// The answer to "does this packet get through?".
#[derive(Debug, Clone, Serialize)]
pub struct Ruling<'a> {
    /// The version of this format.
    pub format: u8,
    /// The direction of the packet.
    pub direction: Direction,
    /// The answer.
    pub verdict: Verdict,
    /// Every gate, in the order in which the packet meets them.
    pub gates: Vec<GateReport<'a>>,
    /// The rule that drops the packet.
    pub decisive: Option<Decisive<'a>>,
    /// The items that could change the answer.
    pub unresolved: Vec<String>,
    /// Rules that match, but stand behind the one that decides.
    pub shadowed: Vec<LaterMatch<'a>>,
    /// What a reader should know of the rules as a whole.
    pub remark: Option<&'static str>,
    /// What could not be read.
    pub warnings: Cow<'a, [Warning]>,
}
