//! What a document supports, and what was looked at.

use serde::{Deserialize, Serialize};

use crate::event::ObservationId;
use crate::finding::{Fault, FaultCode, layer_of_host as host_layer};

/// A fault that a document shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Suspect {
    pub code: FaultCode,
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
    pub(crate) fn new(fault: Fault, object: String, why: impl Into<String>) -> Self {
        Self { code: fault.into(), object, why: why.into(), observations: Vec::new() }
    }

    /// Returns the fault that the code names; a record of a later version may name another.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.code.fault()
    }

    /// Tells whether both are the same fault, whatever shows them.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (&self.code, &self.object) == (&other.code, &other.object)
    }
}

/// Tells whether only a judgement of flows can say that a fault of this code concerns a complaint: without one it is a mere oddity.
#[must_use]
pub fn is_judged_by_flow(code: &str) -> bool {
    code.parse::<Fault>().is_ok_and(|fault| {
        fault == Fault::TcpRefused
            || [Layer::Topology, Layer::Rules, Layer::Routes, Layer::Guest, Layer::Shaping]
                .contains(&fault.layer())
    })
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
    /// Devices, addresses and neighbors of a machine.
    Links,
    /// How a machine finds names.
    Names,
    /// Who listens on a machine, its limits and its counters.
    Sockets,
    /// Policies, services and endpoints of a Kubernetes cluster.
    Cluster,
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
            Self::Links => "the machine's devices, addresses and neighbors",
            Self::Names => "the machine's name servers",
            Self::Sockets => "the machine's sockets, limits and counters",
            Self::Cluster => "policies, services and endpoints of the cluster",
        }
    }
}

impl Fault {
    /// Returns the layer of a machine that it lies in, where the machine itself was read.
    pub(crate) fn layer_of_machines(self) -> Layer {
        ghost_inspect::host::Fault::named(self.as_str()).map_or(self.layer(), host_layer)
    }

    /// Returns the layer that it lies in.
    pub(crate) const fn layer(self) -> Layer {
        match self {
            Self::NsgDeny => Layer::Rules,
            Self::NsgExposure => Layer::Exposure,
            Self::RouteBlackhole
            | Self::RouteDeadNva
            | Self::RouteDetour
            | Self::PeeringDisconnected
            | Self::PeeringMissing
            | Self::PeeringAccessOff
            | Self::PeeringForwardingOff
            | Self::PeeringTransitOff
            | Self::PeeringNotSynced
            | Self::LbProbeMismatch
            | Self::LbProbeStatus
            | Self::LbBackendEmpty
            | Self::LbRuleMissing
            | Self::LbFloatingIp
            | Self::LbAdminDown
            | Self::NotListening
            | Self::FirewallDeny
            | Self::FirewallDefaultDeny
            | Self::FirewallDnsProxyOff
            | Self::PeNotApproved
            | Self::PrivateDnsUnlinked
            | Self::PrivateDnsShadow
            | Self::PrivateDnsRecordMissing
            | Self::PrivateDnsRecordStale
            | Self::DnsServerWrong
            | Self::DnsForwarderMissing
            | Self::OutboundAbsent
            | Self::VpnDown
            | Self::VpnKeyMismatch
            | Self::VpnIkeMismatch
            | Self::VpnPeerUnreachable
            | Self::VpnPrefixMissing
            | Self::VpnPrefixOverlap
            | Self::BgpPeerDown
            | Self::BgpRouteMissing
            | Self::RoutePropagationOff
            | Self::ErCircuitDown
            | Self::ErPeeringDown
            | Self::AppgwProbeMismatch
            | Self::AppgwBackendTls
            | Self::AppgwCertExpired
            | Self::AppgwPoolEmpty
            | Self::AppgwStopped
            | Self::AppgwBackendDown
            | Self::NatUnconfigured
            | Self::AksStopped
            | Self::AksApiRestricted
            | Self::BastionUnconfigured
            | Self::SnatExhausted => Layer::Routes,
            Self::VmStopped | Self::PlatformEvent => Layer::Topology,
            Self::ServiceEndpointMissing | Self::StorageFirewallDeny => Layer::Storage,
            Self::GuestFirewallDrop
            | Self::GuestFirewallReject
            | Self::GuestFirewallPolicyDrop
            | Self::Fail2banBan
            | Self::ContainerFirewallChange => Layer::Guest,
            Self::NetemLoss
            | Self::NetemDelay
            | Self::NetemCorrupt
            | Self::NetemDuplicate
            | Self::NetemReorder
            | Self::RateLimit => Layer::Shaping,
            Self::PmtuBlackhole
            | Self::TcpRefused
            | Self::SynUnanswered
            | Self::DnsFailure
            | Self::ArpConflict
            | Self::AsymmetricPath => Layer::Wire,
            Self::NoDrift => Layer::NetworkDrift,
            Self::Host(fault) => host_layer(fault),
            Self::Cluster(_) => Layer::Cluster,
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

/// Longer names are cut.
const LONGEST: usize = 90;

/// Returns a name as a part of an object: what could break out of it, or be read as words, becomes `_`.
pub(crate) fn plain(name: &str) -> String {
    let fits = |char: char| char.is_ascii_alphanumeric() || "._-:()".contains(char);
    let kept: String = name.chars().take(LONGEST).map(|char| if fits(char) { char } else { '_' }).collect();
    if kept.is_empty() { "_".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_name_stays_one_part_of_an_object() {
        assert_eq!(plain("f2b-sshd"), "f2b-sshd");
        assert_eq!(plain("a/b c\n<x>"), "a_b_c__x_");
        assert_eq!(plain(""), "_");
    }
}
