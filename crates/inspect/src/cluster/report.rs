//! What is reported of a flow.

use std::net::IpAddr;

use serde::Serialize;

use super::engine::Engine;
use super::fault::Cause;
use super::object::Protocol;

/// The version of this format.
pub(super) const FORMAT: u32 = 1;

/// What becomes of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The cluster lets it through, to every pod that it may be sent to.
    Passes,
    /// It does not get there.
    Blocked,
    /// It gets to some of the pods that it may be sent to.
    Degraded,
    /// What was read does not decide it.
    Indeterminate,
}

/// What is reported of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The version of this format.
    pub format: u32,
    /// Who calls.
    pub from: String,
    /// Who is called.
    pub to: String,
    /// The protocol.
    pub protocol: Protocol,
    /// What becomes of it.
    pub verdict: Verdict,
    /// What enforces policies, where that is known.
    pub engine: Option<Engine>,
    /// The service that is called, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The pods and addresses that the flow may be sent to.
    pub targets: Vec<Target>,
    /// What stops it.
    pub causes: Vec<Cause>,
    /// What is odd beside this flow.
    pub noticed: Vec<String>,
    /// What is not known.
    pub missing: Vec<String>,
    /// What could not be read.
    pub warnings: Vec<String>,
    /// How many warnings are left out.
    pub more_warnings: usize,
}

/// Where a flow may be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The pod, where it is one that was read.
    pub pod: Option<String>,
    /// Its address.
    pub address: Option<IpAddr>,
    /// The port.
    pub port: u16,
    /// What becomes of the flow there.
    pub verdict: Verdict,
    /// What policies of the caller say.
    pub egress: Option<Passage>,
    /// What policies of the called pod say.
    pub ingress: Option<Passage>,
}

/// What policies say of a flow in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub enum Passage {
    /// Nothing closes this direction.
    Open {
        /// Why.
        why: String,
    },
    /// A policy lets it through.
    Allowed {
        /// The policy.
        policy: String,
    },
    /// Policies select the pod, and none of them lets it through.
    Closed {
        /// The policies.
        policies: Vec<String>,
    },
    /// What was read does not decide it.
    Unknown {
        /// Why.
        why: String,
    },
}
