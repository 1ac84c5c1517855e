//! From what an inspector read to what it bears out: fault codes and objects of the contract.
//!
//! Goes in: documents of the pure rooms. Comes out: suspects, each with the words that show it, and which layer of which machine was
//! looked at. Never: a model, a guess, a suspect that the document does not hold.

mod expected;
mod wire;

use serde::{Deserialize, Serialize};

pub use expected::{LOW_GBPS, SAME_NETWORK_LATENCY_US, expected_gbps, is_low, is_slow};
pub(in crate::agent) use wire::wire;

/// A fault that a document shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Suspect {
    /// The fault code.
    pub code: String,
    /// What is at fault, as the contract names it.
    pub object: String,
    /// What shows it, in a sentence.
    pub why: String,
}

/// A layer of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// A layer of a subject that was looked at, whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Looked {
    /// The layer.
    pub layer: Layer,
    /// The machine, or the storage account.
    pub subject: String,
}

/// What the record of a call bears out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Borne {
    /// Faults.
    pub suspects: Vec<Suspect>,
    /// What was looked at, whole and without trouble; a look that failed is none.
    pub looked: Vec<Looked>,
}
