//! One step on the path, with what it does to the flow.

use serde::Serialize;

use super::document::{Document, Missing};
use super::fault::Cause;

/// The direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// From the caller.
    Forward,
    /// To the caller.
    Return,
}

/// What kind of step it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Who calls, or who is called: whether it is there.
    Machine,
    /// The packet filter of a machine that sends.
    GuestOutput,
    /// The routes of a machine.
    GuestRoute,
    /// The shaping of a device that sends.
    Shaping,
    /// The security groups of an interface that sends.
    GroupOutbound,
    /// The routes of an interface that sends.
    Route,
    /// A peering.
    Peering,
    /// The security groups of an interface that receives.
    GroupInbound,
    /// Whether a machine passes on what is not for it.
    Forwarding,
    /// The packet filter of a machine that passes on.
    GuestForward,
    /// The packet filter of a machine that receives.
    GuestInput,
    /// How the name of the flow becomes an address.
    Name,
    /// A load balancer, and who is behind it.
    Balancer,
    /// An application gateway, which ends the connection and makes another one.
    ApplicationGateway,
    /// A bastion host, which makes the connection for somebody.
    Bastion,
    /// The API server of a Kubernetes cluster.
    Cluster,
    /// A firewall of the platform.
    Firewall,
    /// A private endpoint.
    Endpoint,
    /// Who listens.
    Listener,
    /// What gives a machine an address on the internet.
    Egress,
    /// A gateway to another site.
    Gateway,
    /// What the platform says of itself.
    Platform,
    /// What lies outside of the estate.
    Outside,
}

/// What a hop does to the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It lets it through.
    Passes,
    /// It slows it, damages it, or takes a share of it.
    Degrades,
    /// It is not known.
    Unknown,
    /// It stops it.
    Stops,
}

/// Something that stops or hurts the flow at a hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What is at fault.
    pub cause: Cause,
    /// The rule, route or setting, as it was printed.
    pub rule: Option<String>,
    /// Why, as a sentence.
    pub reason: String,
    /// Whether it closes whatever nothing else lets in: the default rule of a group, a policy, a rule without conditions.
    pub catches_all: bool,
}

impl Effect {
    pub(super) fn new(cause: Cause, reason: impl Into<String>) -> Self {
        Self { cause, rule: None, reason: reason.into(), catches_all: false }
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// Which kind.
    pub kind: Kind,
    /// The machine, network interface or network at which it is.
    pub at: String,
    /// What stops the flow here, in the order in which it would be met: each as if those before it were gone.
    pub stops: Vec<Effect>,
    /// What takes a share of the packets here.
    pub shares: Vec<Effect>,
    /// What degrades the flow here.
    pub degrades: Vec<Effect>,
    /// What would stop it, if the packet came here as it is thought to: what lies before is not known.
    pub possible: Vec<Effect>,
    /// What would have to be known.
    pub missing: Vec<Missing>,
    /// The rule or route that lets it through, where it is one.
    pub allowed: Option<String>,
    /// What the verdict stands on.
    pub evidence: Vec<Document>,
    /// Why it passes, where it does.
    pub reason: String,
}

impl Hop {
    pub(super) fn new(kind: Kind, at: &str) -> Self {
        Self {
            kind,
            at: at.to_owned(),
            stops: Vec::new(),
            shares: Vec::new(),
            degrades: Vec::new(),
            possible: Vec::new(),
            missing: Vec::new(),
            allowed: None,
            evidence: Vec::new(),
            reason: String::new(),
        }
    }

    pub(super) fn passing(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    pub(super) fn on(mut self, document: Document) -> Self {
        self.evidence.push(document);
        self
    }

    pub(super) fn lacking(mut self, what: Document, why: impl Into<String>) -> Self {
        self.missing.push(Missing { what, why: why.into() });
        self
    }

    pub(super) fn stopped(mut self, effect: Effect) -> Self {
        self.stops.push(effect);
        self
    }

    /// Returns what the hop does.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if !self.stops.is_empty() {
            Verdict::Stops
        } else if !self.missing.is_empty() || !self.possible.is_empty() {
            Verdict::Unknown
        } else if !self.shares.is_empty() || !self.degrades.is_empty() {
            Verdict::Degrades
        } else {
            Verdict::Passes
        }
    }

    /// Returns what decides here: what stops, else what hurts, else what might stop.
    #[must_use]
    pub fn deciding(&self) -> Option<&Effect> {
        let all = self.stops.iter().chain(&self.shares).chain(&self.degrades).chain(&self.possible);
        all.into_iter().next()
    }

    /// Says what the hop does, as a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        match (self.verdict(), self.deciding(), self.missing.first()) {
            (Verdict::Stops | Verdict::Degrades, Some(effect), _) => effect.reason.clone(),
            (Verdict::Unknown, _, Some(missing)) => format!("{}: {}", missing.what, missing.why),
            (Verdict::Unknown, Some(effect), None) => format!("it is not certain that {}", effect.reason),
            (Verdict::Passes | Verdict::Unknown | Verdict::Stops | Verdict::Degrades, _, _) => {
                self.reason.clone()
            }
        }
    }
}
