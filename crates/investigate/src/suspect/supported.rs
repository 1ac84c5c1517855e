//! What a document supports, and what was looked at.

use serde::{Deserialize, Serialize};

use crate::event::ObservationId;

/// A fault that a document shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Suspect {
    /// The fault code.
    pub code: String,
    /// What is at fault, as the contract names it.
    pub object: String,
    /// What shows it, in a sentence.
    pub why: String,
    /// The observations that show it, where a call made others beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<ObservationId>,
}

impl Suspect {
    /// Names a fault.
    pub(crate) fn new(code: &str, object: String, why: impl Into<String>) -> Self {
        Self { code: code.to_owned(), object, why: why.into(), observations: Vec::new() }
    }

    /// Tells whether both are the same fault, whatever shows them.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (&self.code, &self.object) == (&other.code, &other.object)
    }
}

/// Tells whether only a judgement of flows can say that a fault of this code concerns a complaint: without one it is a mere oddity.
#[must_use]
pub fn is_judged_by_flow(code: &str) -> bool {
    matches!(code, "nsg_deny" | "fail2ban_ban" | "container_firewall_change" | "rate_limit" | "tcp_refused")
        || ["route_", "guest_firewall_", "netem_"].iter().any(|start| code.starts_with(start))
}

/// Keeps each fault once, the first of its kind.
pub(crate) fn once(all: Vec<Suspect>) -> Vec<Suspect> {
    let mut kept: Vec<Suspect> = Vec::with_capacity(all.len());
    for one in all {
        if !kept.iter().any(|other| other.is(&one)) {
            kept.push(one);
        }
    }
    kept
}

/// A layer of the stack.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Who owns what: machines, interfaces, subnets.
    Topology,
    /// Effective security rules.
    Rules,
    /// Effective routes.
    Routes,
    /// A storage account's own rules and the subnet's endpoints.
    Storage,
    /// What changed in the effective network since a baseline.
    NetworkDrift,
    /// What changed in a guest's packet filter since a baseline.
    GuestDrift,
    /// A guest's packet filter.
    Guest,
    /// A guest's traffic shaping.
    Shaping,
    /// Latency and throughput between two machines.
    Measure,
    /// Packets.
    Wire,
    /// What is open to whom.
    Exposure,
}

impl Layer {
    /// Returns what it is, in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Topology => "who owns what",
            Self::Rules => "the effective security rules",
            Self::Routes => "the effective routes",
            Self::Storage => "the storage account's rules and the subnet's endpoints",
            Self::NetworkDrift => "what changed in routes and rules since the baseline",
            Self::GuestDrift => "what changed in the guest's packet filter since the baseline",
            Self::Guest => "the guest's packet filter",
            Self::Shaping => "the guest's traffic shaping",
            Self::Measure => "latency and throughput",
            Self::Wire => "the packets on the wire",
            Self::Exposure => "what is open to whom",
        }
    }
}

/// A layer of a subject that was looked at, whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Looked {
    /// The layer.
    pub layer: Layer,
    /// The machine, or the storage account.
    pub subject: String,
}

/// What the record of a call supports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SupportedFaults {
    /// Faults.
    pub suspects: Vec<Suspect>,
    /// What was looked at, whole and without trouble; a look that failed is none.
    pub looked: Vec<Looked>,
    /// Observations of earlier calls that it was read with.
    pub around: Vec<ObservationId>,
}
