//! What a rule demands of packets and does to them, whatever tool wrote it.

use ghost_inspect::netfilter::{Body, Rule};

use super::{native, save};

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Gone without a word.
    Drop,
    /// Refused with a word.
    Reject,
    /// Anything else.
    Other,
}

/// A rule, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleEffect {
    pub(super) does: Does,
    /// The chain that it leads to.
    pub(super) leads: Option<String>,
    /// Its protocol, if it names one.
    pub(super) protocol: Option<String>,
    /// Its ports, if it names any.
    pub(super) ports: Vec<String>,
    /// The sources that it names, without their length.
    pub(super) sources: Vec<String>,
    /// A set of addresses that it asks for the source.
    pub(super) set: Option<String>,
    pub(super) device: bool,
    /// It demands anything at all.
    pub(super) demands: bool,
    /// It stops what every sane filter stops.
    pub(super) sane: bool,
}

impl Default for RuleEffect {
    fn default() -> Self {
        Self {
            does: Does::Other,
            leads: None,
            protocol: None,
            ports: Vec::new(),
            sources: Vec::new(),
            set: None,
            device: false,
            demands: false,
            sane: false,
        }
    }
}

impl RuleEffect {
    /// Reads a rule.
    pub(super) fn of(rule: &Rule) -> Self {
        match &rule.body {
            Body::Save(parts) => save::effect(parts),
            Body::Nft(expressions) => native::effect(expressions),
        }
    }

    /// Says which packets it is about, as a part of an object: `tcp/5001`, one for each port.
    pub(super) fn about(&self) -> Vec<String> {
        let protocol = self.protocol.as_deref().unwrap_or("any");
        if self.ports.is_empty() {
            return vec![format!("{protocol}/any")];
        }
        self.ports.iter().map(|port| format!("{protocol}/{port}")).collect()
    }
}
